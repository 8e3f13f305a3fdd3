"""What no rule of nested tensors knows is refused, with the way round."""

from __future__ import annotations

import pytest
from ragged import jagged_of, nested_of, pieces_of

import taeda
from taeda import nested


@pytest.mark.parametrize(
    ("call", "error", "fact"),
    [
        (
            lambda x: nested.nested_tensor([taeda.ones(2)], layout=taeda.sparse_coo),
            RuntimeError,
            "strided or jagged",
        ),
        (
            lambda x: nested_of([taeda.ones(2), taeda.ones(2, 2)]),
            RuntimeError,
            "as many dimensions",
        ),
        (lambda x: nested_of([taeda.ones(2, 3), taeda.ones(3, 2)]), RuntimeError, "one ragged dim"),
        (lambda x: nested_of([]), RuntimeError, "empty"),
        (lambda x: nested_of([taeda.tensor(1.0)]), RuntimeError, "got some without"),
        (lambda x: nested.to_padded_tensor(x, 0, (4, 2, 6)), RuntimeError, "nothing is cut off"),
        (lambda x: jagged_of([0, 2, 7]), ValueError, "from 2 to 7 in 5 values"),
        (lambda x: jagged_of([0, 3, 1]), ValueError, "from 3 to 1"),
        (lambda x: jagged_of([-1, 3]), ValueError, "from -1 to 3"),
        (lambda x: jagged_of([0.0, 3.0]), RuntimeError, "must be ints"),
        (lambda x: x.sum(0), NotImplementedError, "sum: dimension 0 .* its batch"),
        (lambda x: x.svd(), NotImplementedError, "svd: .* taeda.jagged.* unbind"),
        (lambda x: x.cumsum_(1), NotImplementedError, "cumsum_: .* Use cumsum"),
        (lambda x: x.transpose(0, 1), NotImplementedError, "transpose"),
        (lambda x: x.softmax(3), IndexError, "out of range"),
        (lambda x: x.numpy(), TypeError, "taeda.jagged"),
        (lambda x: x.to_sparse(), NotImplementedError, "NestedTensor"),
        (lambda x: taeda.empty(2, layout=taeda.jagged), NotImplementedError, "empty"),
    ],
)
def test_refused(call, error, fact):
    with pytest.raises(error, match=fact):
        call(nested_of(pieces_of(6)))
