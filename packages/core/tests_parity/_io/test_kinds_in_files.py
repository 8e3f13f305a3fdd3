"""Files of sparse, nested, masked and quantized tensors go both ways between torch and taeda."""

from __future__ import annotations

import warnings

import pytest
import torch
import torch.masked

import taeda

BLOCKED = {"bsr": (1, 3), "bsc": (2, 1)}


def matrix(lib):
    return lib.tensor([[1.0, 0, 2], [0, 3, 0]])


def repeated(lib):
    return lib.sparse_coo_tensor([[1, 1]], [1.0, 2.0], (3,))


def short_indices(lib):
    crow, column = lib.tensor([0, 1, 1]), lib.tensor([2])
    return lib.sparse_csr_tensor(crow.int(), column.int(), lib.tensor([5.0]), (2, 3))


def holes(lib):
    return lib.nested.nested_tensor_from_jagged(
        lib.ones(6, 2), lib.tensor([0, 2, 5]), lib.tensor([1, 3])
    )


def channels(lib):
    return lib.quantize_per_channel(
        matrix(lib), lib.tensor([0.1, 0.2]), lib.tensor([0, 1]), 0, lib.qint8
    )


KINDS = {
    "coo": lambda lib: matrix(lib).to_sparse(),
    "repeated": repeated,
    "hybrid": lambda lib: matrix(lib).to_sparse(1),
    "nothing": lambda lib: lib.sparse_coo_tensor(size=(2, 3)),
    "csr": lambda lib: matrix(lib).to_sparse_csr(),
    "csc": lambda lib: matrix(lib).to_sparse_csc(),
    **{
        name: lambda lib, name=name: getattr(matrix(lib), f"to_sparse_{name}")(BLOCKED[name])
        for name in BLOCKED
    },
    "int32": short_indices,
    "batches": lambda lib: lib.stack([matrix(lib)] * 2).to_sparse_csr(),
    "parameter": lambda lib: lib.nn.Parameter(matrix(lib).to_sparse_csr()),
    "jagged": lambda lib: lib.nested.nested_tensor(
        [matrix(lib), matrix(lib)[:1]], layout=lib.jagged, requires_grad=True
    ),
    "holes": holes,
    "strided": lambda lib: lib.nested.nested_tensor(
        [matrix(lib), matrix(lib)[:1, :2]], requires_grad=True
    ),
    "masked": lambda lib: lib.masked.masked_tensor(matrix(lib), matrix(lib) != 0),
    "masked leaf": lambda lib: lib.masked.masked_tensor(matrix(lib), matrix(lib) != 0, True),
    "quantized": lambda lib: lib.quantize_per_tensor(matrix(lib), 0.1, 3, lib.quint8),
    "channels": channels,
}


def described(x):
    """All facts of a tensor, the same for both libraries."""
    layout = str(x.layout).partition(".")[2]
    facts = [layout, str(x.dtype).partition(".")[2], x.requires_grad]
    if x.is_nested:
        return [*facts, [piece.tolist() for piece in x.detach().unbind()]]
    if "Masked" in type(x).__name__:
        return [*facts, x.get_data().tolist(), x.get_mask().tolist()]
    if x.is_quantized:
        return [*facts, x.int_repr().tolist(), x.dequantize().tolist()]
    if layout == "sparse_coo":
        facts += [x.is_coalesced(), x._indices().tolist()]
    return [*facts, tuple(x.shape), x._nnz(), x.detach().to_dense().tolist()]


@pytest.mark.parametrize("name", KINDS)
def test_both_ways(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs, ours = KINDS[name](torch), KINDS[name](taeda)
        assert described(theirs) == described(ours)
        torch.save({"x": [theirs]}, tmp_path / "theirs.pt")
        taeda.save({"x": [ours]}, tmp_path / "ours.pt")
        found = taeda.load(tmp_path / "theirs.pt")["x"][0]
        assert described(found) == described(theirs)
        assert type(found) is type(ours)
        # names that torch's short list lacks: of jagged and masked tensors
        again = torch.load(tmp_path / "ours.pt", weights_only=False)["x"][0]
        assert described(again) == described(ours)
