"""A run of a whole program, with what the advice asks: places, types, reads, steps."""

from __future__ import annotations

import contextlib
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.runtime import memory_stats

from ._collect import Collector
from ._settings import Settings

__all__ = ["Watch"]

#: what makes a number of Python from a tensor
READS = ("item", "tolist", "__float__", "__int__", "__bool__")
SMALL = 1024  # numbers of an operation whose arithmetic is cheaper than its call
_OWN = tuple(taeda.__path__)


class Watch(Collector):
    """Notes of every operation, besides its range, who called it and what it made."""

    def __init__(self) -> None:
        super().__init__(Settings(modules=True))
        self.step = 0  # of all optimizers
        self.small: Counter[tuple[str, str, int]] = Counter()  # (place, operation, step)
        self.doubles: Counter[str] = Counter()  # numbers made in float64, by place
        self.made = 0  # numbers made in all floating types
        self.reads: defaultdict[str, set[int]] = defaultdict(set)  # steps by place
        self.kept_gradients = 0  # steps whose gradients nobody cleared
        self.double_weights = False
        self.curve: list[tuple[int, int]] = []  # (when, bytes)
        self._cleared, self._after = True, {}  # type: ignore[var-annotated]  # gradients by parameter

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        number = len(self.ranges)
        made = super().call(op, args, run)
        noted = self.ranges[number]
        place = _place()
        self.curve.append((noted.end, memory_stats()["allocated"]))
        if isinstance(made, Tensor):
            if all(value.numel() <= SMALL for value in (made, *args) if isinstance(value, Tensor)):
                self.small[place, noted.name, self.step] += 1
            if made.is_floating_point():
                self.made += made.numel()
                if made.dtype is taeda.float64:
                    self.doubles[place] += made.numel()
        if op.startswith(("zero_", "_foreach_zero")):
            self._cleared = True
        return made

    def read(self) -> None:
        """A tensor became a number; what optimizers and layers read is theirs."""
        if not sys._getframe(2).f_code.co_filename.startswith(_OWN):
            self.reads[_place()].add(self.step)

    def before_step(self, optimizer: Any, *rest: Any) -> None:
        held = [p for group in optimizer.param_groups for p in group["params"]]
        self.double_weights |= any(p.dtype is taeda.float64 for p in held)
        same = any(p.grad is not None and self._after.get(id(p)) is p.grad for p in held)
        self.kept_gradients += same and not self._cleared
        self._after = {id(p): p.grad for p in held}
        self._cleared = False

    def after_step(self, *rest: Any) -> None:
        self.step += 1

    @contextlib.contextmanager
    def watching_program(self) -> Iterator[None]:
        """Watch this thread; methods of tensors and optimizers are wrapped until it ends."""
        with contextlib.ExitStack() as stack:
            for name in READS:
                _wrap(stack, Tensor, name, self.read)
            for kind in _siblings():
                _wrap(stack, kind, "zero_grad", self._clear)
            backward = Tensor.backward

            def named(tensor: Tensor, *args: Any, **keywords: Any) -> Any:
                entered = self.enter("backward")
                try:
                    return backward(tensor, *args, **keywords)
                finally:
                    self.leave(entered)

            stack.callback(setattr, Tensor, "backward", backward)
            Tensor.backward = named  # type: ignore[method-assign,assignment]  # until the stack ends
            self.start()
            stack.callback(self.stop)
            for handle in self._step_hooks():
                stack.callback(handle.remove)
            yield

    def _clear(self) -> None:
        self._cleared = True

    def _step_hooks(self) -> Iterator[Any]:
        try:
            from taeda.optim import optimizer
        except ImportError:
            return
        yield optimizer.register_optimizer_step_pre_hook(self.before_step)
        yield optimizer.register_optimizer_step_post_hook(self.after_step)


def _siblings() -> Iterator[Any]:
    """The classes whose `zero_grad` clears gradients, where they are installed."""
    try:
        from taeda import optim

        yield optim.Optimizer
    except ImportError:
        pass  # then nothing steps
    try:
        from taeda import nn

        yield nn.Module
    except ImportError:
        pass  # then there are no modules


def _wrap(stack: contextlib.ExitStack, kind: Any, name: str, note: Callable[[], None]) -> None:
    plain = getattr(kind, name)

    def wrapped(self: Any, *args: Any, **keywords: Any) -> Any:
        note()
        return plain(self, *args, **keywords)

    stack.callback(setattr, kind, name, plain)
    setattr(kind, name, wrapped)


def _place() -> str:
    """The innermost line that is not ours."""
    frame: Any = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else "?"
