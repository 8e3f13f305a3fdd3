"""The size of a ragged dimension is a size and no number."""

from __future__ import annotations

import copy
import math
import operator
import pickle

import pytest

import taeda
from taeda.nested._ints import _known, size_for


@pytest.fixture(scope="module")
def batch():
    pieces = [taeda.ones(2, 3), taeda.ones(4, 3)]
    return taeda.nested.nested_tensor(pieces, layout=taeda.jagged)


ONE = [int, float, complex, operator.neg, operator.pos, abs, operator.invert, round, math.floor]
TWO = [
    operator.add, operator.sub, operator.mul, operator.floordiv, operator.truediv, operator.mod, operator.pow,
    operator.lshift, operator.rshift, operator.and_, operator.or_, operator.xor, divmod,
]  # fmt: skip
FACTORIES = ["zeros", "ones", "empty", "rand", "randn"]


@pytest.mark.parametrize("function", ONE)
def test_it_has_no_value(batch, function):
    with pytest.raises(TypeError, match="ragged dimension"):
        function(batch.shape[1])


@pytest.mark.parametrize("function", TWO)
def test_there_is_no_arithmetic(batch, function):
    size = batch.shape[1]
    for pair in ((size, 2), (2, size), (size, size)):
        with pytest.raises(TypeError, match="ragged dimension"):
            function(*pair)


def test_it_is_equal_to_itself_alone(batch):
    size = batch.shape[1]
    assert size == batch.shape[1] and size != 4 and size in {size: 1} and f"{size}" == repr(size)
    assert copy.copy(size) is size is copy.deepcopy(size)
    with pytest.raises(TypeError, match="save that"):
        pickle.dumps(size)


def test_lengths_are_at_least_0_and_no_more_is_known(batch):
    size = batch.shape[1]
    assert size >= 0 and size > -1 and not size < 0 and size >= size and not size > size
    for order in (operator.lt, operator.le, operator.gt, operator.ge):
        with pytest.raises(TypeError, match="order"):
            order(size, 3)


@pytest.mark.parametrize("name", FACTORIES)
def test_no_tensor_has_such_a_size(batch, name):
    with pytest.raises(TypeError, match="ragged dimension"):
        getattr(taeda, name)(2, batch.shape[1], 3)
    with pytest.raises(TypeError, match="ragged dimension"):
        getattr(taeda, name)(batch.shape)


@pytest.mark.parametrize(
    "name", ["view", "reshape", "expand", "repeat", "tile", "narrow", "new_zeros", "resize_"]
)
def test_no_plain_tensor_takes_it(batch, name):
    size = batch.shape[1]
    args = (0, 0, size) if name == "narrow" else (size, 3)
    with pytest.raises(TypeError, match="ragged dimension"):
        getattr(taeda.ones(3), name)(*args)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, n: taeda.arange(n),
        lambda x, n: taeda.full((2,), n),
        lambda x, n: taeda.linspace(0, 1, n),
        lambda x, n: taeda.eye(n),
        lambda x, n: taeda.tensor([n]),
        lambda x, n: x / n,
        lambda x, n: n * x,
        lambda x, n: x.clamp(max=n),
        lambda x, n: x.fill_(n),
        lambda x, n: x[:n],
        lambda x, n: x[n],
        lambda x, n: x == n,
        lambda x, n: taeda.where(x > 0, x, n),
    ],
)
def test_no_row_takes_it_for_a_number(batch, call):
    with pytest.raises(TypeError, match="ragged dimension"):
        call(taeda.ones(3), batch.shape[1])


def test_offsets_have_one_size_for_as_long_as_they_live():
    offsets, others = taeda.tensor([0, 2]), taeda.tensor([0, 2])
    size = size_for(offsets)
    assert (
        size_for(offsets) is size and size_for(others) != size and size_for(None) != size_for(None)
    )
    assert str(size).startswith("j") and repr(taeda.Size([2, size])) == f"taeda.Size([2, {size}])"
    key = id(offsets)
    assert key in _known
    del offsets
    assert key not in _known
