"""Old constructors of sparse tensors."""

import pytest

import taeda
from taeda._torch_names import private_sparse


@pytest.mark.parametrize("name", private_sparse.__all__)
def test_indices_and_values(name):
    make = getattr(private_sparse, name)
    x = make(taeda.tensor([[0, 1], [1, 0]]), taeda.tensor([2, 3]), (2, 2))
    assert x.is_sparse and x.to_dense().tolist() == [[0, 2], [3, 0]]
    assert (
        make(2, 3).shape == (2, 3) and make(taeda.Size([4])).shape == (4,) and make().shape == (0,)
    )
    assert make(2, 3).dtype is x.dtype
