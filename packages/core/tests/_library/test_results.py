"""What letters make of the tensors that an extension's operator gives."""

from __future__ import annotations

import pytest

import taeda
from taeda._library import _results as results

X, Y = taeda.ones(2), taeda.zeros(1)


def text(of: str) -> taeda.Tensor:
    return taeda.tensor(list(of.encode()), dtype=taeda.uint8)


WORD = text("ok")


def read(letters: str, made: list, lengths: list[int] = ()):
    return next(results._values(iter(letters), iter(made), iter(lengths)), None)


@pytest.mark.parametrize(
    ("letters", "made", "wanted"),
    [
        ("f", [taeda.tensor(0.5)], 0.5),
        ("i", [taeda.tensor(3)], 3),
        ("b", [taeda.tensor(True)], True),
        ("I", [taeda.tensor([1, 2])], [1, 2]),
        ("F", [taeda.tensor([0.5])], [0.5]),
        ("B", [taeda.tensor([True, False])], [True, False]),
        ("z", [taeda.tensor(1 + 2j)], 1 + 2j),
        ("z", [taeda.tensor(2.0)], 2 + 0j),
        ("n", [taeda.tensor(True)], True),
        ("n", [taeda.tensor(2.5)], 2.5),
        ("s", [WORD], "ok"),
        ("S", [text("2:ok0:3:a:b")], ["ok", "", "a:b"]),
        ("S", [text("")], []),
        ("S", [text("2:\u00e9")], ["\u00e9"]),
        ("o", [None], None),
        ("", [None], None),
        ("(if)", [taeda.tensor(1), taeda.tensor(2.0)], (1, 2.0)),
    ],
)
def test_values(letters, made, wanted):
    found = read(letters, made)
    assert found == wanted and type(found) is type(wanted)


def test_tensors_are_handed_on_as_they_are():
    assert read("t", [X]) is X
    made = read("[", [X, Y, None], [2])
    assert made[0] is X and made[1] is Y and len(made) == 2
    first, (second, third), number = read("(t([o)i)", [X, Y, None, taeda.tensor(4)], [1])
    assert first is X and second[0] is Y and third is None and number == 4


def test_which_gradients_may_be_asked_for():
    leaf = taeda.ones(1, requires_grad=True)
    given = {"a": X, "n": 3, "b": leaf}
    assert results._needs(["a", "b", "c"], given) == 2
    with taeda.no_grad():
        assert results._needs(["a", "b", "c"], given) == 0


def test_what_does_not_cross_is_refused_by_name():
    refused = results._refusal("zoo::sample")
    assert refused.__name__ == "sample"
    with pytest.raises(NotImplementedError, match="zoo::sample takes or gives a c10::Dict"):
        refused(1)
