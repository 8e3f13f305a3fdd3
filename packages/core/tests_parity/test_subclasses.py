"""What a tensor subclass with `__torch_dispatch__` sees and gives: the same here and in torch."""

from __future__ import annotations

import importlib
from typing import Any

import pytest


def wrapper(name: str) -> Any:
    """(the library, a class of it that logs what it sees, the log)."""
    lib = importlib.import_module(name)
    tree_map = importlib.import_module(f"{name}.utils._pytree").tree_map
    correct = importlib.import_module(f"{name}.utils._python_dispatch").return_and_correct_aliasing
    log: list[str] = []

    class Wrapper(lib.Tensor):
        __torch_function__ = lib._C._disabled_torch_function_impl

        @staticmethod
        def __new__(cls, inner, requires_grad=False):
            return lib.Tensor._make_wrapper_subclass(
                cls,
                inner.shape,
                strides=inner.stride(),
                storage_offset=inner.storage_offset(),
                dtype=inner.dtype,
                device=inner.device,
                requires_grad=requires_grad,
            )

        def __init__(self, inner, requires_grad=False):
            self.inner = inner

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            log.append(str(func))

            def unwrap(t):
                return t.inner if isinstance(t, cls) else t

            made = func(*tree_map(unwrap, args), **tree_map(unwrap, kwargs or {}))
            wrapped = tree_map(lambda t: cls(t) if isinstance(t, lib.Tensor) else t, made)
            return correct(func, args, kwargs, wrapped)

    return lib, Wrapper, log


SAME_OPERATORS = [
    ("x + "
    "y"), "x * 2", "x - y / 2", "x @ w.t()", "lib.nn.functional.linear(x, w)",
    "lib.nn.functional.linear(x, w, w[:, 0])", "x.sum()",
    "x.sum(dim=0)", "x.sum(0, keepdim=True)", "x.mean(dim=(0, 1))", "x[0]", "x[0, 1]", "x[1:]",
    "y.add_(1)", "y.mul_(x)", "p.copy_(y)", "p + y",
    ("x.reshape(3, "
    "2)"), "x.t().reshape(-1)", "x.flatten()", "x.contiguous()", "x.t().contiguous()", "x.T", "x.mT",
    "x.view(-1)", "x.unbind()",
    "x.split(1)", "x.chunk(2)", "x.expand(2, 2, 3)", "x.transpose(0, 1)", "x.permute(1, 0)",
    "x.unsqueeze(0)", "lib.cat([x, p])",
    ("lib.stack([x, "
    "y])"), "x.to(lib.float64)", "x.half()", "x.clone()", "x.detach()", "x.data", "x.sum().item()",
    "float(x.sum())",
    "lib.nn.Parameter(x)", "x.max(0)", "x.sort()", "p[x > lib.zeros(2, 3)]",
    "lib.where(p > 0, x, y)", "x.repeat(2, 1)", "x.conj()",
    "lib.bmm(x.unsqueeze(0), w.t().unsqueeze(0))",
]  # fmt: skip
REFUSED = ["x.numpy()", "x.tolist()", "memoryview(x)", "x.item()"]


def evaluate(name: str, text: str) -> Any:
    lib, kind, log = wrapper(name)
    values = lib.arange(6, dtype=lib.float32).reshape(2, 3) / 4 - 0.5
    scope = {
        "lib": lib, "x": kind(values.clone()), "y": kind(values.clone() * 2), "p": values.clone() + 1,
        "w": kind(lib.arange(12, dtype=lib.float32).reshape(4, 3) / 8),
    }  # fmt: skip
    log.clear()
    made = eval(text, scope)
    first = made[0] if isinstance(made, (tuple, list)) else made
    inner = first.inner if isinstance(first, kind) else first
    value = inner.reshape(-1).tolist() if isinstance(inner, lib.Tensor) else inner
    # a view that the reference knows to have no second owner is a view
    return type(first).__name__, [name.replace("_unsafe_view", "view") for name in log], value


@pytest.mark.parametrize("text", SAME_OPERATORS)
def test_the_same_operators_are_seen(text):
    kind, names, value = evaluate("taeda", text)
    wanted_kind, wanted_names, wanted = evaluate("torch", text)
    assert kind == wanted_kind
    assert value == pytest.approx(wanted, rel=1e-5)
    assert names == wanted_names


@pytest.mark.parametrize("text", REFUSED)
def test_the_same_is_refused(text):
    for name in ("taeda", "torch"):
        with pytest.raises((RuntimeError, TypeError, BufferError)):
            evaluate(name, text)
