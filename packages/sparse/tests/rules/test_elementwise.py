"""Functions that give 0 for 0."""

from __future__ import annotations

import pytest

import taeda
from taeda.sparse.rules.elementwise import LINEAR, ZERO_PRESERVING, _function


@pytest.mark.parametrize("name", [*LINEAR, *ZERO_PRESERVING])
def test_these_give_zero_for_zero(name):
    assert _function(name)(taeda.zeros(1)).item() == 0


COMPLEX = {
    "conj": lambda x: x.conj(),
    "resolve_conj": lambda x: x.resolve_conj(),
    "resolve_neg": lambda x: x.resolve_neg(),
    "H": lambda x: x.H,
    "mH": lambda x: x.mH,
    "adjoint": lambda x: x.adjoint(),
    "T": lambda x: x.T,
    "real": lambda x: x.real,
    "imag": lambda x: x.imag if x.is_complex() else x,
    "product": lambda x: x @ x.conj().t(),
    "turned": lambda x: x.t().conj(),
}


@pytest.mark.parametrize("dtype", [taeda.complex64, taeda.float32], ids=str)
@pytest.mark.parametrize("layout", [taeda.sparse_coo, taeda.sparse_csr, taeda.sparse_csc], ids=str)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers(name, layout, dtype):
    """As of strided ones, gradients too."""
    values = (
        taeda.tensor([1 + 2j, 3 - 1j, 0.5j]) if dtype is taeda.complex64 else taeda.arange(3.0) + 1
    )
    places = taeda.tensor([[0, 1, 1], [1, 0, 1]])
    found = []
    for is_sparse in (True, False):
        given = values.clone().requires_grad_()
        x = taeda.zeros(2, 2, dtype=dtype).index_put(tuple(places), given)
        x = x.to_sparse(layout=layout) if is_sparse else x
        made = COMPLEX[name](x)
        if is_sparse:
            assert made.layout in (layout, taeda.sparse_csr, taeda.sparse_csc)
            made = made.to_dense()
        weight = taeda.arange(4.0).reshape(2, 2).to(made.dtype)
        out = (made * weight).sum()
        (out.real if out.is_complex() else out).backward()
        found.append((made.detach().resolve_conj(), given.grad))
    assert all(taeda.allclose(a, b) for a, b in zip(*found, strict=True))
