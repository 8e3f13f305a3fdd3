"""`Dim`: names, ranges, formulas, and what is no Dim."""

from __future__ import annotations

import pytest

from taeda.export import Dim


def test_formulas_are_shown_as_they_are_written():
    n = Dim("n", min=2, max=8)
    assert [repr(d) for d in (n, 2 * n, n + 1, 3 * n - 2, (n + 1) * 2)] == [
        "n", "2*n", "n + 1", "3*n + -2", "2*n + 2",
    ]  # fmt: skip
    assert (n.min, n.max) == (2, 8)


@pytest.mark.parametrize("name", ["2n", "", "a b", 3, None])
def test_names(name):
    with pytest.raises(TypeError, match="must be an identifier"):
        Dim(name)


@pytest.mark.parametrize(("least", "most"), [(3, 2), (-1, 4)])
def test_empty_ranges(least, most):
    with pytest.raises(ValueError, match="no size is at least"):
        Dim("n", min=least, max=most)


def test_what_is_no_formula():
    n = Dim("n")
    for wrong in (lambda: n * 0.5, lambda: n * -1, lambda: n + 0.5, lambda: n * n):
        with pytest.raises((NotImplementedError, TypeError)):
            wrong()
