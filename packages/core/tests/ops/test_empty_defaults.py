"""A list of sizes that is empty unless it is given may be None, as in `stride=None`: the same as
leaving it away.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from samples import ROWS, samples

import taeda


def empty_lists(row):
    return [(i, a) for i, a in enumerate(row.schema.arguments) if a.is_list and a.default == []]


CASES = [(name, i, a) for name, row in ROWS.items() for i, a in empty_lists(row)]


def test_there_are_such_rows():
    assert {"avg_pool2d", "max_pool2d_with_indices", "amax", "roll"} <= {
        name for name, _, _ in CASES
    }


@pytest.mark.parametrize(("name", "place", "argument"), CASES, ids=lambda c: getattr(c, "name", c))
def test_none_is_the_default(name, place, argument):
    sample = next(samples(name))
    named = {
        a.name: v
        for a, v in zip(sample.row.schema.arguments[place:], sample.args[place:], strict=False)
    }
    named = {k: v for k, v in (named | sample.kwargs).items() if k != argument.name}
    without = replace(sample, args=sample.args[:place], kwargs=named)
    with_none = replace(without, kwargs={**named, argument.name: None})
    if name == "roll":  # without dims, one shift
        without, with_none = (replace(s, args=(s.args[0], 2)) for s in (without, with_none))
    wanted, made = without.call(), with_none.call()
    pair = (made, wanted) if isinstance(made, tuple) else ((made,), (wanted,))
    assert all(taeda.equal(a, b) for a, b in zip(*pair, strict=True))


@pytest.mark.parametrize("call", [lambda x: taeda.rot90(x, 1, None), lambda x: x.permute(None)])
def test_other_lists_may_not_be_none(call):
    with pytest.raises(TypeError, match="None"):
        call(taeda.ones(2, 2))
