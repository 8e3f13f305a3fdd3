"""Modules as functions of their parameters, in the form that the package functorch had."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from taeda import Tensor

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "functional",
    "functional_with_buffers",
]


def _parts(
    model: Any, parameters: bool, tracked: bool
) -> tuple[tuple[str, ...], tuple[Tensor, ...]]:
    named = dict(model.named_parameters() if parameters else model.named_buffers())
    values = tuple(v if tracked else v.detach() for v in named.values())
    return tuple(named), values


class FunctionalModuleWithBuffers:
    """`f(params, buffers, *args)`: the module's forward with these tensors for its own."""

    def __init__(self, model: Any) -> None:
        self.stateless_model = copy.deepcopy(model)
        self.param_names = _parts(model, True, True)[0]
        self.buffer_names = _parts(model, False, True)[0]

    def __call__(
        self, params: Sequence[Tensor], buffers: Sequence[Tensor], *args: Any, **kwargs: Any
    ) -> Any:
        from taeda.func import functional_call  # upward: who has a module has the package

        given = dict(zip(self.param_names, params, strict=True))
        given |= zip(self.buffer_names, buffers, strict=True)
        return functional_call(self.stateless_model, given, args, kwargs)


class FunctionalModule(FunctionalModuleWithBuffers):
    """`f(params, *args)`, of a module without buffers."""

    def __call__(self, params: Sequence[Tensor], *args: Any, **kwargs: Any) -> Any:  # one less
        return super().__call__(params, (), *args, **kwargs)


def functional_with_buffers(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The module as a function, its parameters and its buffers."""
    tracked = not disable_autograd_tracking
    params, buffers = (_parts(model, kind, tracked)[1] for kind in (True, False))
    return FunctionalModuleWithBuffers(model), params, buffers


def functional(
    model: Any, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, tuple[Tensor, ...]]:
    """The module as a function, and its parameters. RuntimeError if it has buffers."""
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional: the module has buffers: call make_functional_with_buffers instead"
        )
    return FunctionalModule(model), _parts(model, True, not disable_autograd_tracking)[1]
