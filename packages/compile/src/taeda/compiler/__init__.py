"""compile, and what programs ask about it.

A compiled function runs as Python twice: the first call is recorded, the second is compared with a
run of the recorded graph, bit by bit. From then on the graph runs, without Python between its
operations, as long as nothing has changed that the program read. Where that cannot be known the
program stays as it is, and `explain` says why.

>>> import taeda
>>> @taeda.compile
... def f(x):
...     return x.sin() + 1
>>> f(taeda.zeros(1))
tensor([1.])
>>> list_backends()
['taeda', 'inductor', 'eager', 'aot_eager']
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from typing import Any

from taeda import nn

from . import _kernels, config
from ._api.backends import (
    BackendCompilerFailed,
    Delegated,
    InvalidBackend,
    list_backends,
    lookup,
    register_backend,
)
from ._api.explain import Explanation, explain
from ._api.in_place import AsWritten, call_of
from ._api.module import OptimizedModule
from ._call.compiled import Compiled
from ._call.wrapper import is_held, wrapper
from ._errors import Stop
from ._promises import (
    allow_in_graph,
    assume_constant_result,
    cudagraph_mark_step_begin,
    substitute_in_graph,
)
from ._stance import set_stance
from ._watch.observer import here

__all__ = [
    "BackendCompilerFailed", "Explanation", "InvalidBackend", "OptimizedModule", "Stop", "allow_in_graph",
    "assume_constant_result", "compile", "config", "cudagraph_mark_step_begin", "disable",
    "explain", "is_compiling",
    "is_dynamo_compiling", "is_exporting", "list_backends", "register_backend", "reset", "set_stance",
    "substitute_in_graph",
]  # fmt: skip

_MODES = ("default", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
_all: weakref.WeakSet[Compiled] = weakref.WeakSet()
_kernels.start()


def compile(
    model: Callable[..., Any] | None = None,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: str | Callable[..., Any] = "taeda",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Any:
    """A function or module that computes what `model` computes, to the same bits; without `model` a
    decorator.

    A module comes back as an `OptimizedModule`, which shares its parameters. Backends: "taeda"
    (also called "inductor") records the operations and runs them as one program if that is faster,
    "aot_eager" runs it in any case, and so does "eager" with `fullgraph=True`; without, it leaves
    the program as it is. A function, or the name of one that `register_backend` knows, is called
    once for each graph as `backend(graph_module, example_inputs)` and returns a function
    of the inputs that gives a tuple of the graph's results; `options`, and a `mode` other than the
    default, are passed on by keyword. What it computes is its own affair: only the graph is
    compared with the program.

    With `fullgraph=True` a program of which there is no whole graph raises `Stop`, which names the
    reason and the line. Every shape gets a graph of its own, in about the time of one call, so
    `dynamic` asks for nothing; every `mode` asks for speed alone.

    InvalidBackend for an unknown backend, TypeError for settings that are no flags, RuntimeError
    for an unknown mode and for options of a built-in backend, which has none; BackendCompilerFailed
    from a call whose graph a function as backend refused.

    Args:
        model: a function, method or module; without it a decorator (None).
        fullgraph: whether a program without a whole graph raises (False).
        dynamic: True, False or None; asks for nothing (None).
        backend: a name, or a function of a graph module and its example inputs ("taeda").
        mode: "default", "reduce-overhead", "max-autotune" or "max-autotune-no-cudagraphs" (None).
        options: dict that is passed to a function as backend (None).
        disable: whether `model` is returned as it is (False).

    >>> import taeda
    >>> f = compile(lambda x: (x * 2).sum())
    >>> [f(taeda.ones(3)).item() for _ in range(3)]
    [6.0, 6.0, 6.0]
    """
    alone = not is_held(sys.getrefcount(model))
    _check_types(fullgraph, dynamic, options, disable)
    if model is None:
        return functools.partial(
            compile,
            fullgraph=fullgraph,
            dynamic=dynamic,
            backend=backend,
            mode=mode,
            options=options,
            disable=disable,
        )
    if not callable(model):
        raise TypeError(f"compile: wanted a function or a module, got {type(model).__name__}")
    if disable:
        return model
    if isinstance(model, OptimizedModule):
        model = model._orig_mod
    compiled = compiled_state(
        model, fullgraph=fullgraph, backend=backend, mode=mode, options=options
    )
    if isinstance(model, nn.Module):
        made = OptimizedModule(model, compiled)
        made.__dict__["_asked"] = {
            "fullgraph": fullgraph,
            "backend": backend,
            "mode": mode,
            "options": options,
        }
        return made
    return model if compiled is None else wrapper(model, compiled, alone=alone)


def compiled_state(
    model: Any,
    *,
    fullgraph: bool = False,
    dynamic: bool | None = None,
    backend: Any = "taeda",
    mode: str | None = None,
    options: dict[str, Any] | None = None,
    disable: bool = False,
) -> Compiled | None:
    """What stands behind a callable that is compiled with these settings; None if it stays as it is."""
    _check_types(fullgraph, dynamic, options, disable)
    behind = lookup(backend)
    _check(behind, mode, options)
    if disable or (behind == "eager" and not fullgraph):
        return None
    if callable(behind):
        passed: dict[str, Any] = {} if mode in (None, "default") else {"mode": mode}
        passed |= {"options": options} if options else {}
        made: Compiled = Delegated(model, behind, fullgraph=fullgraph, passed=passed)
    else:
        made = Compiled(model, fullgraph=fullgraph, chooses=behind not in ("aot_eager", "eager"))
    _all.add(made)
    return made


def compiled_call(module: nn.Module, **settings: Any) -> Callable[..., Any] | None:
    """Behind `Module.compile`: what its calls do with these settings of `compile`; None if they
    stay as they are.
    """
    return call_of(compiled_state(AsWritten(module), **settings))


def _check_types(fullgraph: Any, dynamic: Any, options: Any, disable: Any) -> None:
    given = {"fullgraph": fullgraph, "dynamic": dynamic, "disable": disable}
    for name, value in given.items():
        if not isinstance(value, bool) and (value is not None or name != "dynamic"):
            wanted = "True or False" + ", or None" * (name == "dynamic")
            raise TypeError(f"compile: {name} is {wanted}, got {value!r:.60}")
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"compile: options is a dict, got a {type(options).__name__}")


def _check(backend: Any, mode: Any, options: Any) -> None:
    if mode is not None and mode not in _MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(_MODES)}")
    if options and not callable(backend):
        raise RuntimeError(
            f"Unexpected optimization option {next(iter(options))}: the backend {backend!r} has no options"
        )


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """`fn`, which is never compiled: the original of what `compile` made, or a function that ends a
    graph. Without `fn` a decorator.

    A compiled function that calls it stays eager, with `reason` in its explanation; with
    `recursive=False` only calls from outside stay eager.

    Args:
        fn: a function or module, compiled or not (None).
        recursive: whether compiled functions that call it stay eager as well (True).
        reason: text for their explanation (None).

    >>> @taeda.compiler.disable
    ... def printed(x):
    ...     print("called")
    ...     return x + 1
    >>> taeda.compile(lambda x: printed(x) * 2)(taeda.ones(2))
    called
    tensor([4., 4.])
    """
    if fn is None:
        return functools.partial(disable, recursive=recursive, reason=reason)
    if isinstance(fn, OptimizedModule):
        return fn._orig_mod
    original = getattr(fn, "__taeda_original__", fn)
    if not recursive or isinstance(original, nn.Module) or not callable(original):
        return original

    @functools.wraps(original)
    def eager(*args: Any, **kwargs: Any) -> Any:
        observer = here.get()
        if observer is not None and observer.active:
            observer.stop(
                f"it calls {original.__qualname__}, which is disabled{(reason and f': {reason}') or ''}"
            )
        return original(*args, **kwargs)

    return eager


def reset() -> None:
    """Forget all that was captured, in all compiled functions.

    >>> taeda.compiler.reset()
    """
    for compiled in list(_all):
        compiled.reset()


def is_compiling() -> bool:
    """False, in every call of a compiled function: a recorded one runs as all others do, so that the
    first call gives what the next ones give.

    >>> taeda.compiler.is_compiling()
    False
    """
    return False


def is_dynamo_compiling() -> bool:
    """The same.

    >>> taeda.compiler.is_dynamo_compiling()
    False
    """
    return is_compiling()


def is_exporting() -> bool:
    """Whether a program is being exported: never, there is no export.

    >>> taeda.compiler.is_exporting()
    False
    """
    return False
