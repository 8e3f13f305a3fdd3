"""einsum against numpy, and equations that do not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taeda

SIZES = {"a": 2, "b": 3, "c": 1, "d": 4}


@st.composite
def equations(draw):
    terms = draw(st.lists(st.text("abcd", max_size=4), min_size=1, max_size=4))
    letters = sorted(set("".join(terms)))
    output = draw(
        st.permutations(letters).map(lambda order: order[: draw(st.integers(0, len(order)))])
    )
    return terms, draw(st.sampled_from([None, "".join(output)]))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(equations())
def test_random_equations_agree_with_numpy(case):
    terms, output = case
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal([SIZES[ch] for ch in term]) for term in terms]
    equation = ",".join(terms) + ("" if output is None else f"->{output}")
    want = np.einsum(equation, *arrays)
    got = taeda.einsum(equation, *(taeda.from_numpy(np.asarray(a)) for a in arrays))
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ab,...bc->...ac", [(5, 2, 3), (3, 4)]),
        ("a...,...->...a", [(2, 3), (4, 1)]),
        ("...,...", [(2, 3), (3,)]),
        ("a...a->...", [(2, 3, 2)]),
        (" a b , b -> a ", [(2, 3), (3,)]),
        ("ab,b->a", [(2, 1), (3,)]),
    ],
)
def test_ellipses_broadcast_from_the_right(equation, shapes):
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    spread = [np.broadcast_to(arrays[0], (2, 3)), arrays[1]] if equation == "ab,b->a" else arrays
    want = np.einsum(equation, *spread)
    got = taeda.einsum(equation, *(taeda.from_numpy(a) for a in arrays))
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-10)


@pytest.mark.parametrize(
    ("equation", "shapes", "words"),
    [
        ("ab,b", [(2, 3)], "subscripts for 2 operands, but 1 were given"),
        ("a", [(2, 3)], r"\(1\) does not match .* dimensions \(2\) of operand 0, and no ellipsis"),
        ("abc", [(2, 3)], r"\(3\) does not match"),
        ("a->b", [(2,)], "output subscript b does not appear"),
        ("a->aa", [(2,)], "output subscript a appears more than once"),
        ("a1", [(2, 3)], "invalid subscript given for operand 0: '1'"),
        ("a->1", [(2,)], "invalid subscript given for the output"),
        ("a,a", [(2,), (3,)], "subscript a has size 3 in operand 1, .* previously seen size 2"),
        ("...,...", [(2,), (3,)], "a dimension of the ellipsis has size 3"),
    ],
)
def test_equations_that_do_not_fit(equation, shapes, words):
    with pytest.raises(RuntimeError, match=words):
        taeda.einsum(equation, *(taeda.ones(shape) for shape in shapes))
