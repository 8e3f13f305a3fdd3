"""What programs call under this name: backends, `optimize`, `reset`, `explain`, `disable`, marks of
tensors, and limits in `config`.

>>> import taeda._dynamo
>>> taeda._dynamo.config.recompile_limit
8
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taeda import Tensor
from taeda.compiler import (
    Explanation,
    OptimizedModule,
    allow_in_graph,
    assume_constant_result,
    disable,
    is_compiling,
    list_backends,
    register_backend,
    reset,
    set_stance,
    substitute_in_graph,
)
from taeda.compiler import compile as _compile
from taeda.compiler import explain as _explain
from taeda.compiler._api.backends import lookup as _lookup
from taeda.compiler._watch.observer import here as _here

from . import config, exc, testing

__all__ = [
    "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable", "exc",
    "explain", "graph_break", "is_compiling", "list_backends", "lookup_backend",
    "mark_dynamic", "mark_static", "maybe_mark_dynamic", "optimize", "optimize_assert",
    "register_backend", "reset", "set_stance",
    "substitute_in_graph", "testing",
]  # fmt: skip


def explain(f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any) -> Any:
    """A function that calls `f` with its arguments and returns an `Explanation`; with arguments the
    explanation itself.
    """
    made: Callable[..., Explanation] = _explain(f)
    return made(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else made


def optimize(
    backend: str | Callable[..., Any] = "taeda",
    *,
    nopython: bool = False,
    disable: bool = False,
    dynamic: bool | None = None,
) -> Callable[..., Any]:
    """A decorator that compiles with these settings; `nopython` is what `compile` calls `fullgraph`.

    >>> import taeda
    >>> optimize("eager")(taeda.sin)(taeda.zeros(1))
    tensor([0.])
    """
    made: Callable[..., Any] = _compile(
        backend=backend, fullgraph=nopython, disable=disable, dynamic=dynamic
    )
    return made


def optimize_assert(
    backend: str | Callable[..., Any] = "taeda", *, dynamic: bool | None = None
) -> Callable[..., Any]:
    """`optimize` with `nopython=True`: a program of which there is no whole graph raises."""
    return optimize(backend, nopython=True, dynamic=dynamic)


def lookup_backend(compiler_fn: str | Callable[..., Any]) -> Any:
    """The function behind a registered name; a function is itself.
    InvalidBackend for an unknown name, or one that is built in.
    """
    found = _lookup(compiler_fn)
    if not callable(found):
        raise exc.InvalidBackend(
            f"{compiler_fn!r} is built in, and no function of a graph stands behind it"
        )
    return found


def graph_break(msg: str = "") -> None:
    """Where a compiled program calls this it has no graph and stays as it is; with `fullgraph=True`
    it raises. Nothing elsewhere.
    """
    observer = _here.get()
    if observer is not None and observer.active:
        observer.stop(f"it calls graph_break(){msg and f': {msg}'}")


def mark_dynamic(
    t: Tensor,
    index: int | list[int] | tuple[int, ...],
    *,
    min: int | None = None,
    max: int | None = None,
) -> None:
    """Say that a size of `t` will change. Every shape has a graph of its own in the time of one
    call, so nothing else is done about it. IndexError for a dimension that `t` does not have.
    """
    for dim in [index] if isinstance(index, int) else index:
        if not -t.ndim <= dim < t.ndim:
            raise IndexError(f"mark_dynamic: dimension {dim} of a tensor of {t.ndim} dimensions")


def maybe_mark_dynamic(t: Tensor, index: int | list[int] | tuple[int, ...]) -> None:
    """The same."""
    mark_dynamic(t, index)


def mark_static(t: Tensor, index: int | list[int] | tuple[int, ...] | None = None) -> None:
    """Say that sizes of `t` stay, all of them without `index`.
    Graphs are for one shape anyway; IndexError as in `mark_dynamic`.
    """
    mark_dynamic(t, () if index is None else index)
