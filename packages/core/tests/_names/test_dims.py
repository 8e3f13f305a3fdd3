"""Names of dimensions: which are taken, what two tensors have together."""

from __future__ import annotations

import pytest

import taeda
from taeda._names.dims import checked, give, names_of, place, unify


@pytest.mark.parametrize("names", [("N", "C"), ("N", None), (None, None), ["a1", "b_2"]])
def test_good_names(names):
    assert checked(names, 2) == tuple(names)


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        ("NC", TypeError, "sequence"),
        (3, TypeError, "sequence"),
        ((1, 2), TypeError, "str"),
        (("N",), RuntimeError, "1 names"),
        (("N", "N"), RuntimeError, "twice"),
        (("1", "C"), RuntimeError, "no name"),
        (("_N", "C"), RuntimeError, "no name"),
        (("a b", "C"), RuntimeError, "no name"),
        (("", "C"), RuntimeError, "no name"),
    ],
)
def test_bad_names(names, error, text):
    with pytest.raises(error, match=text):
        checked(names, 2)


@pytest.mark.parametrize(
    ("a", "b", "both"),
    [
        (("N", "C"), ("N", "C"), ("N", "C")),
        (("N", None), (None, "C"), ("N", "C")),
        (("N", "C"), ("C",), ("N", "C")),
        ((), ("N",), ("N",)),
        ((None, None), ("C",), (None, "C")),
    ],
)
def test_unify(a, b, both):
    assert unify(a, b, "add") == both
    assert unify(b, a, "add") == both


@pytest.mark.parametrize(
    ("a", "b", "text"),
    [
        (("X",), ("Z",), "do not match"),
        (("N", "C"), ("N",), "do not match"),
        (("N", None), ("N",), "misaligned"),
        ((None, "C"), ("C", None), "misaligned"),
    ],
)
def test_clashes(a, b, text):
    with pytest.raises(RuntimeError, match=text):
        unify(a, b, "add")
    with pytest.raises(RuntimeError, match=text):
        unify(b, a, "add")


def test_place_and_give():
    x = give(taeda.ones(2, 3), ("N", "C"))
    assert names_of(x) == ("N", "C")
    assert place(x, "C") == 1
    with pytest.raises(RuntimeError, match=r"'Z' not found in Tensor\[N, C\]"):
        place(x, "Z")
    assert names_of(give(x, (None, None))) == (None, None)


def test_other_layouts_have_no_names():
    with pytest.raises(RuntimeError, match="strided"):
        give(taeda.eye(2).to_sparse(), ("N", "C"))
