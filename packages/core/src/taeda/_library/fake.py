"""Kernels without data: how `register_fake` functions run, and the context they may ask for."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from . import table

__all__ = ["FakeImplCtx", "as_meta_kernel", "get_ctx", "inventing_sizes"]

Function = Callable[..., Any]


class _Here(threading.local):
    def __init__(self) -> None:
        self.contexts: list[FakeImplCtx | None] = []
        self.inventing: list[FakeImplCtx] = []


_here = _Here()


class FakeImplCtx:
    """What a fake kernel may ask for sizes that depend on data."""

    def __init__(self, qualname: str, *, invents: bool) -> None:
        self._qualname = qualname
        self._invents = invents
        self.asked = False

    def new_dynamic_size(self, *, min: int = 0, max: int | None = None) -> int:
        """A size that only the data decides. On plain meta tensors there is none: RuntimeError."""
        if not self._invents:
            raise RuntimeError(
                f"{self._qualname}: its fake kernel asked for a size that depends on data, which "
                "meta tensors do not have. Such an "
                "operator cannot run on them."
            )
        self.asked = True
        return min

    new_symint = new_dynamic_size
    create_unbacked_symint = new_dynamic_size


def get_ctx() -> FakeImplCtx | None:
    """The context of the fake kernel that runs; None outside of one.

    >>> import taeda
    >>> taeda.library.get_ctx() is None  # outside of a fake kernel
    True
    """
    return _here.contexts[-1] if _here.contexts else None


@contextmanager
def inventing_sizes() -> Iterator[FakeImplCtx]:
    """In this block `new_dynamic_size` answers; `asked` says afterwards that sizes are not to be compared."""
    ctx = FakeImplCtx("", invents=True)
    _here.inventing.append(ctx)
    try:
        yield ctx
    finally:
        _here.inventing.pop()


def _is_recorded(qualname: str) -> bool:
    return str(table.rule_of(qualname, "crossing") or "").endswith("~")


def _with_record(qualname: str, made: Any) -> Any:
    """Results as those of the kernel in C++, whose record is missing: nothing was computed."""
    kinds = table.rule_of(qualname, "crossing")
    if not set(kinds) <= set("(to)~"):
        raise NotImplementedError(
            f"{qualname}: some of its results are no Tensors, which a fake kernel in Python cannot "
            "give: write it in C++, for the key Meta"
        )
    results = (None, *(made if isinstance(made, tuple | list) else (made,)))
    schema = table.entry(qualname).schema
    lists = schema is not None and any(r.is_list for r in schema.returns)
    return list(results) if lists else results


def as_meta_kernel(qualname: str, function: Function) -> Function:
    """The function as a kernel: while it runs, `get_ctx` answers."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        ctx = _here.inventing[-1] if _here.inventing else FakeImplCtx(qualname, invents=False)
        # an operator in C++ has one argument and one result more for its derivative
        recorded = kwargs.pop("taeda_needs", None) is not None and _is_recorded(qualname)
        _here.contexts.append(ctx)
        try:
            made = function(*args, **kwargs)
        finally:
            _here.contexts.pop()
        return _with_record(qualname, made) if recorded else made

    return run
