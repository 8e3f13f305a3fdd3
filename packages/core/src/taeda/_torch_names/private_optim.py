"""What libraries take from `torch.optim.optimizer` beside the class: helpers of their own optimizers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

import taeda
from taeda import Tensor
from taeda._layers.user_code import call_user
from taeda._native import core as _core

__all__ = [
    "capturable_devices",
    "choose_kernels",
    "number_of",
    "reals_of",
    "root",
    "with_gradients",
]


def capturable_devices(supports_xla: bool = True) -> list[str]:
    """Kinds of devices on which a step may be captured."""
    return ["cuda"] if taeda.cuda.is_available() else []


def choose_kernels(
    params: Iterable[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether a step is fused, and whether it goes by lists: neither unless asked for, for plain loops
    over parameters cost no more here.
    """
    given = list(params)
    floating = all(p.is_floating_point() for p in given)
    return use_fused and not differentiable and floating, False


def with_gradients(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step of an optimizer, recorded for derivatives where its group says `differentiable`, else not."""

    @functools.wraps(step)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        with _core.Switches(grad=self.defaults.get("differentiable", False)):
            return call_user(None, step, self, *args, **kwargs)

    return run


def number_of(x: Any) -> Any:
    """The number that a tensor of one element holds; a number as it is."""
    return x.item() if isinstance(x, Tensor) else x


def root(x: Any) -> Any:
    """The square root of a number or a tensor."""
    return x.sqrt() if isinstance(x, Tensor) else x**0.5


def reals_of(params: list[Tensor], *states: list[Tensor]) -> None:
    """Complex tensors become views of pairs of reals, in the lists, and their states with them."""
    for index, param in enumerate(params):
        if param.is_complex():
            params[index] = taeda.view_as_real(param)
            for state in states:
                state[index] = taeda.view_as_real(state[index])
