"""First and second derivatives of views."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, distinct

import taeda


def at(*values):
    return taeda.tensor(values)


VIEWS = {
    "view": lambda x: x.view(4, 3),
    "reshape of a transpose": lambda x: x.t().reshape(2, 6),
    "expand": lambda x: x.unsqueeze(1).expand(3, 2, 4),
    "broadcast_to": lambda x: x.broadcast_to(2, 3, 4),
    "permute": lambda x: x.permute(1, 0),
    "movedim": lambda x: x.unflatten(1, (2, 2)).movedim((0, 1), (2, 0)),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "select": lambda x: x.select(1, -2),
    "slice": lambda x: x[1:, ::3],
    "narrow": lambda x: x.narrow(1, -3, 2),
    "diagonal": lambda x: x.diagonal(1),
    "unfold": lambda x: x.unfold(1, 3, 1),
    "as_strided": lambda x: x.as_strided((3, 3), (2, 1), 1),
    "as_strided of a transpose": lambda x: x.t().as_strided((2, 2), (4, 1)),
    "unbind": lambda x: x.unbind(1)[2],
    "split": lambda x: x.split(3, 1)[1],
    "chunk": lambda x: x.chunk(2)[0],
    "tensor_split, overlapping": lambda x: x.tensor_split((2, 1), 1),
    "tensor_split sections": lambda x: x.tensor_split(3, 1),
    "tensor_split by tensor": lambda x: x.tensor_split(at(1, 3), 1)[1],
    "hsplit": lambda x: x.hsplit(2)[1],
    "vsplit": lambda x: x.vsplit((1,))[1],
    "flip": lambda x: x.flip(0, 1),
    "roll": lambda x: x.roll((1, -1), (0, 1)),
    "roll all": lambda x: x.roll(5),
    "rot90": lambda x: x.rot90(),
    "repeat": lambda x: x.repeat(2, 1, 3),
    "tile": lambda x: x.tile((2,)),
    "repeat_interleave": lambda x: x.repeat_interleave(at(2, 0, 1), 0),
    "clone": lambda x: x.clone(memory_format=taeda.contiguous_format),
    "contiguous": lambda x: x.t().contiguous(),
    "mT": lambda x: x.mT,
    "transpose_": lambda x: (x * 1).transpose_(0, 1) * 2,
    "squeeze_": lambda x: (x.unsqueeze(0) * 1).squeeze_() * 2,
}


COMPLEX = {
    "real": lambda z: z.real,
    "imag": lambda z: z.imag,
    "conj": lambda z: z.conj() * 2,
    "mH": lambda z: z.mH,
    "resolve_conj": lambda z: z.conj().resolve_conj(),
    "view_as_real": lambda z: taeda.view_as_real(z),
    "view_as_complex": lambda z: taeda.view_as_complex(taeda.view_as_real(z) * 2),
    "polar": lambda z: taeda.polar(z.real, z.imag),
    "view": lambda z: z.view(-1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_of_one(name):
    both_orders(VIEWS[name], distinct(3, 4))


@pytest.mark.parametrize("name", COMPLEX)
def test_of_complex_numbers(name):
    z = distinct(3, 4, dtype=taeda.complex128).detach().requires_grad_()
    both_orders(COMPLEX[name], z)


def test_contiguous_of_a_contiguous_tensor_has_no_node_of_its_own():
    x = taeda.ones(2, requires_grad=True)
    assert x.contiguous() is x
    assert x.is_leaf
    y = x * 2
    before = y.grad_fn
    assert y.contiguous() is y
    assert y.grad_fn is before
