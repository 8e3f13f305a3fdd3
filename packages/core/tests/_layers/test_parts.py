"""A class written for the reference's operators sees these in place of rows that it would not know, with
the values and the refusals of the rows.
"""

from __future__ import annotations

import pytest

import taeda
from taeda import Tensor
from taeda.utils._pytree import tree_map


class Seen(Tensor):
    """A tensor that notes the operators of its calls."""

    names: list[str]
    __torch_function__ = taeda._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inner):
        return Tensor._make_wrapper_subclass(
            cls, inner.shape, strides=inner.stride(), dtype=inner.dtype
        )

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        cls.names.append(str(func).removeprefix("aten."))
        plain = tree_map(lambda t: t.inner if isinstance(t, cls) else t, (args, kwargs or {}))
        made = func(*plain[0], **plain[1])
        return tree_map(lambda t: cls(t) if isinstance(t, Tensor) else t, made)


X = taeda.arange(24.0).reshape(2, 3, 4)
CALLS = {
    "narrow": (lambda x: x.narrow(1, 0, 2), ["slice.Tensor"]),
    "narrow from the end": (lambda x: x.narrow(1, -2, 2), ["slice.Tensor"]),
    "movedim": (lambda x: x.movedim(0, 2), ["permute.default"]),
    "movedim of two": (lambda x: x.movedim((0, 2), (1, 0)), ["permute.default"]),
    "moveaxis": (lambda x: x.moveaxis(0, -1), ["permute.default"]),
    "swapaxes": (lambda x: x.swapaxes(0, 1), ["transpose.int"]),
    "swapdims": (lambda x: x.swapdims(0, -1), ["transpose.int"]),
    "ravel": (lambda x: x.ravel(), ["view.default"]),
    "view_as": (lambda x: x.view_as(taeda.ones(6, 4)), ["view.default"]),
    "reshape_as": (lambda x: x.reshape_as(taeda.ones(6, 4)), ["view.default"]),
    "expand_as": (lambda x: x.expand_as(taeda.ones(2, 2, 3, 4)), ["expand.default"]),
    "broadcast_to": (lambda x: x.broadcast_to(2, 2, 3, 4), ["expand.default"]),
    "unflatten": (lambda x: x.unflatten(2, (2, -1)), ["view.default"]),
    "chunk": (lambda x: x.chunk(2), ["split.Tensor"]),
    "split by sizes": (lambda x: x.split([1, 2], 1), ["split_with_sizes.default"]),
    "tensor_split": (lambda x: x.tensor_split(3, 2), ["slice.Tensor"] * 3),
    "tensor_split at": (lambda x: x.tensor_split([1, -1], 2), ["slice.Tensor"] * 3),
    "hsplit": (lambda x: x.hsplit(3), ["slice.Tensor"] * 3),
    "vsplit": (lambda x: x.vsplit(2), ["slice.Tensor"] * 2),
    "dsplit": (lambda x: x.dsplit([1]), ["slice.Tensor"] * 2),
    "mT": (lambda x: x.mT, ["transpose.int"]),
    "mH": (lambda x: x.mH, ["transpose.int"]),
    "adjoint": (lambda x: x.adjoint(), ["transpose.int"]),
    "tile": (lambda x: x.tile(2, 1), ["repeat.default"]),
    "where": (lambda x: taeda.where(x), ["nonzero.default", "unbind.int"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_class_sees_the_operators_that_it_knows(name):
    call, wanted = CALLS[name]
    Seen.names = []
    made = call(Seen(X.clone()))
    assert Seen.names == wanted
    plain = tree_map(lambda t: t.inner, made)
    taeda.testing.assert_close(list(plain), list(call(X)))
    assert all(type(t) is Seen for t in (made if isinstance(made, (tuple, list)) else [made]))


WRONG = {
    "narrow": lambda x: x.narrow(1, 2, 2),
    "narrow of no dimension": lambda x: x.narrow(4, 0, 1),
    "movedim": lambda x: x.movedim(0, 5),
    "movedim of one twice": lambda x: x.movedim((0, 0), (1, 2)),
    "unflatten": lambda x: x.unflatten(2, (3, 2)),
    "hsplit": lambda x: x.hsplit(2),
    "dsplit": lambda x: x[0].dsplit(2),
    "tensor_split": lambda x: x.tensor_split(0),
    "matrix_H": lambda x: x.H,
    "adjoint": lambda x: x[0, 0].adjoint(),
    "view_as": lambda x: x.view_as(taeda.ones(5)),
    "expand_as": lambda x: x.expand_as(taeda.ones(2, 3, 5)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_a_row_refuses_is_refused_of_a_class(name):
    Seen.names = []
    for x in (X, Seen(X.clone())):
        with pytest.raises((RuntimeError, IndexError, ValueError)):
            WRONG[name](x)


def test_derivatives_pass_through_parts():
    for name, (call, _) in CALLS.items():
        if name == "where":
            continue
        Seen.names = []
        grads = []
        for x in (X.clone(), Seen(X.clone())):
            x.requires_grad_()
            made = call(x)
            parts = made if isinstance(made, (tuple, list)) else [made]
            total = sum((part * part).sum() for part in parts)
            total.backward()
            grads.append(x.grad)
        taeda.testing.assert_close(grads[1].inner, grads[0], msg=name)
