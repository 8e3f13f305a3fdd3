"""compile, and what programs ask about it.

There is one backend as yet, "eager": a compiled program is the program, so it gives the same numbers, at the same speed, from the
first call. No graph is captured; `taeda.fx` traces one on demand.

>>> import taeda
>>> @taeda.compile
... def f(x):
...     return x.sin() + 1
>>> f(taeda.zeros(1))
tensor([1.])
>>> list_backends()
['eager']
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from taeda import nn

from ._module import OptimizedModule

__all__ = [
    "InvalidBackend", "OptimizedModule", "compile", "disable", "is_compiling", "is_dynamo_compiling", "is_exporting", "list_backends", "reset",
]  # fmt: skip

_BACKENDS = ("eager",)
_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")


class InvalidBackend(RuntimeError):
    """No backend has this name."""


def list_backends() -> list[str]:
    """The names that `compile` takes as backend."""
    return list(_BACKENDS)


def compile(
    model: Callable[..., Any] | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "eager", mode: str | None = None,
    options: dict[str, Any] | None = None, disable: bool = False,
) -> Any:  # fmt: skip
    """A function or module that computes what `model` computes; without `model` a decorator.

    A function comes back as it is. A module comes back as an `OptimizedModule`, which shares its parameters. All sizes are served
    alike, so every value of `dynamic` holds; every `mode` asks for speed alone.

    InvalidBackend for an unknown backend, NotImplementedError for a function as backend and for fullgraph=True, which
    want a graph; RuntimeError for an unknown mode, and for options, which "eager" has none of.
    """
    if model is None:
        return functools.partial(
            compile, fullgraph=fullgraph, dynamic=dynamic, backend=backend, mode=mode, options=options, disable=disable
        )  # fmt: skip
    if not callable(model):
        raise TypeError(f"compile: wanted a function or a module, got {type(model).__name__}")
    if disable:
        return model
    _check(fullgraph, backend, mode, options)
    return OptimizedModule(model) if isinstance(model, nn.Module) else model


def _check(fullgraph: bool, backend: Any, mode: Any, options: Any) -> None:
    if callable(backend):
        raise NotImplementedError(
            "compile: a function as backend is given a graph, and none is captured as yet. Pass it the graph of taeda.fx.symbolic_trace(model)"
        )
    if backend not in _BACKENDS:
        raise InvalidBackend(
            f"Invalid backend: {backend!r}, see `taeda.compiler.list_backends()` for available backends: {', '.join(_BACKENDS)}"
        )
    if fullgraph:
        raise NotImplementedError(
            "compile: fullgraph=True promises one graph of the whole program, and none is captured as yet. taeda.fx.symbolic_trace(model) "
            "tells whether there is one, with the line that prevents it"
        )
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    if options:
        raise RuntimeError(
            f"Unexpected optimization option {next(iter(options))}: the backend {backend!r} has no options"
        )


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """`fn`, which is never compiled: the original of what `compile` made. Without `fn` a decorator.

    `recursive` and `reason` say what a capture would do; nothing is captured, so every value holds.
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    return fn._orig_mod if isinstance(fn, OptimizedModule) else fn


def reset() -> None:
    """Forget what was compiled: nothing, for nothing is kept."""


def is_compiling() -> bool:
    """Whether a program is being captured by `compile` or an export right now: never, for nothing is captured."""
    return False


def is_dynamo_compiling() -> bool:
    """The same, of `compile` alone."""
    return False


def is_exporting() -> bool:
    """The same, of an export alone."""
    return False
