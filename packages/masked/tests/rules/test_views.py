"""Views and joins of masked tensors: data and mask alike."""

from __future__ import annotations

import pytest
from masks import MASK, X, same_masked

import taeda
from taeda.masked import masked_tensor

VIEWS = {
    "atleast_1d": taeda.atleast_1d,
    "broadcast_tensors": lambda x: taeda.broadcast_tensors(x, x)[1],
    "broadcast_to": lambda x: taeda.broadcast_to(x, (2, 3, 4)),
    "cat": lambda x: taeda.cat([x, x], 1),
    "chunk": lambda x: x.chunk(2, 1)[1],
    "column_stack": lambda x: taeda.column_stack([x, x]),
    "dsplit": lambda x: taeda.dsplit(x.reshape(1, 3, 4), 2)[1],
    "flatten": taeda.flatten,
    "hsplit": lambda x: taeda.hsplit(x, 2)[1],
    "hstack": lambda x: taeda.hstack([x, x]),
    "meshgrid": lambda x: taeda.meshgrid(x[0], x[1], indexing="ij")[1],
    "narrow": lambda x: x.narrow(1, 1, 2),
    "ravel": taeda.ravel,
    "select": lambda x: x.select(0, 1),
    "split": lambda x: x.split(2, 1)[1],
    "stack": lambda x: taeda.stack([x, x], 1),
    "t": taeda.t,
    "transpose": lambda x: x.transpose(0, 1),
    "vsplit": lambda x: taeda.vsplit(x, 3)[1],
    "vstack": lambda x: taeda.vstack([x, x]),
    "expand": lambda x: x.expand(2, 3, 4),
    "expand_as": lambda x: x.expand_as(taeda.ones(2, 3, 4)),
    "reshape": lambda x: x.reshape(4, 3),
    "reshape_as": lambda x: x.reshape_as(taeda.ones(4, 3)),
    "unfold": lambda x: x.unfold(1, 2, 1),
    "view": lambda x: x.view(-1),
    "permute": lambda x: x.permute(1, 0),
    "unbind": lambda x: x.unbind(1)[2],
    "getitem": lambda x: x[1:, [0, 2]],
    "clone": taeda.clone,
    "to": lambda x: x.to(taeda.float32),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views(name):
    function = VIEWS[name]
    same_masked(function(masked_tensor(X, MASK)), function(X), function(MASK) != 0)


def test_kron_and_unfold():
    y = taeda.ones(2, 2, dtype=X.dtype)
    mask = taeda.kron(MASK.int(), taeda.ones(2, 2, dtype=taeda.int32)) > 0
    same_masked(taeda.kron(masked_tensor(X, MASK), y), taeda.kron(X, y), mask)
    unfold = taeda.nn.functional.unfold
    made = unfold(masked_tensor(X, MASK).reshape(1, 1, 3, 4), 2, padding=1)
    data, mask = (unfold(x.reshape(1, 1, 3, 4).double(), 2, padding=1) for x in (X, MASK))
    same_masked(made, data, mask != 0)


def test_an_index_is_no_masked_tensor():
    """The data would be selected where its numbers say so, and the mask where it is True."""
    x = masked_tensor(X, MASK)
    places = x > 2
    for call in (lambda: x[places], lambda: x.index_select(0, x[0].to(taeda.int64))):
        with pytest.raises((RuntimeError, TypeError), match=r"index with its to_tensor|int"):
            call()
    assert x[places.to_tensor(False)].get_mask().all()
