"""Options that are one number, or one for each dimension."""

from __future__ import annotations

from collections import OrderedDict

import pytest

from taeda.nn.modules import utils


@pytest.mark.parametrize(
    ("parse", "count"),
    [
        (utils._single, 1),
        (utils._pair, 2),
        (utils._triple, 3),
        (utils._quadruple, 4),
        (utils._ntuple(6), 6),
    ],
)
def test_one_value_is_repeated_and_several_stay(parse, count):
    assert parse(3) == (3,) * count
    assert parse(None) == (None,) * count
    assert parse([1, 2]) == (1, 2)
    assert parse(iter((5, 6, 7))) == (5, 6, 7)
    assert type(parse([1])) is tuple


@pytest.mark.parametrize(
    ("values", "times", "wanted"),
    [((1, 2), 2, (2, 2, 1, 1)), ([3], 3, (3, 3, 3)), ((), 2, ()), ((1, 2, 3), 1, (3, 2, 1))],
)
def test_sizes_as_pad_wants_them(values, times, wanted):
    assert utils._reverse_repeat_tuple(values, times) == wanted


def test_a_prefix_is_taken_from_a_state_dict():
    state = OrderedDict({"module.a.weight": 1, "step": 2, "module.b": 3})
    state._metadata = OrderedDict({"": 0, "module": {"version": 1}, "module.a": {"version": 2}})
    utils.consume_prefix_in_state_dict_if_present(state, "module.")
    assert list(state.items()) == [("a.weight", 1), ("step", 2), ("b", 3)]
    assert dict(state._metadata) == {"": {"version": 1}, "a": {"version": 2}}
