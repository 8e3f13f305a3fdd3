"""A run of a whole program, told to those who look for wastes: places, types, reads, steps."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api.runtime import memory_stats

from ._blocks import deliver, listen, stop_listening
from ._callers import asked, calls_module, place_of
from ._collect import Collector
from ._ledger import Ledger, Origin
from ._settings import Settings
from ._tensors import tensors_of
from ._wastes import WASTES, Call, Finding, Run

__all__ = ["Watch"]

#: what makes a number of Python from a tensor
READS = ("item", "tolist", "__float__", "__int__", "__bool__")
OUTSIDE = "nn.Module: "
_OWN = tuple(taeda.__path__)


class Watch(Collector):
    """Notes of every operation, besides its range, who called it and what it made."""

    def __init__(
        self, clock: Callable[[], int] = time.perf_counter_ns, settings: Settings | None = None
    ) -> None:
        asked = replace(settings or Settings(), modules=True, flops=True)
        super().__init__(asked, clock)
        self.ledger = Ledger(memory_stats()["allocated"])
        self.run = Run(self.ledger)
        self.wastes = [kind(self.run) for kind in WASTES]
        self.curve: list[tuple[int, int, str]] = []  # (when, bytes, the line that ran)
        self._loading = 0  # data sets within which this thread is
        self._undo = contextlib.ExitStack()
        self._begun = 0

    # ---- what is told ----

    def call(self, op: str, args: tuple[Any, ...], run: Callable[[], Any]) -> Any:
        number = len(self.ranges)
        caller = asked()
        place = caller.place
        self._follow(place, "")
        grad = taeda.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors_of(args))
        made = super().call(op, args, run)
        noted = self.ranges[number]
        self._follow(place, noted.name, grad)
        self.curve.append((noted.end, self.ledger.total, place))
        took = noted.end - noted.start
        if not self._loading:
            name = noted.name.removeprefix("aten::")
            self.run.ran(place, name, took)
            told = Call(name, place, args, made, self.run.step, took, *caller[1:])
            for waste in self.wastes:
                waste.operation(told)
        return made

    def _follow(self, place: str, operation: str, grad: bool = False) -> None:
        """What was taken until now is that of this line."""
        self.ledger.origin = Origin(place, operation, self._modules(), self.run.step, grad)
        deliver()

    def _modules(self) -> str:
        names = [one.name for one in self.open if one.name.startswith(OUTSIDE)]
        return ".".join(name.removeprefix(OUTSIDE) for name in names)

    def tell(self, kind: str, place: str, detail: Any) -> None:
        for waste in self.wastes:
            waste.event(kind, place, detail)

    def found(self) -> list[Finding]:
        """What is wasted, when the run is over."""
        return [finding for waste in self.wastes for finding in waste.found()]

    def finish(self, took: int) -> None:
        """The run took so many nanoseconds."""
        self.run.total = took

    # ---- what is wrapped while the program runs ----

    def start(self) -> None:
        """Watch this thread; methods of tensors, optimizers and loaders are wrapped until `stop`."""
        with contextlib.ExitStack() as stack:
            listen(self.ledger)
            stack.callback(stop_listening, self.ledger)
            for name in READS:
                _around(stack, Tensor, name, self._read)
            _around(stack, Tensor, "backward", self._backward)
            _around(stack, taeda, "tensor", self._made)
            _around(stack, taeda, "set_num_threads", self._threads)
            _around(stack, taeda.cuda, "synchronize", self._synchronised)
            for kind in _siblings():
                _around(stack, kind, "zero_grad", self._clear)
            for loader in _loaders():
                _around(stack, loader, "__iter__", self._iterated)
            stack.enter_context(_heard("taeda.compiler.recompiles", self._graph))
            super().start()
            stack.callback(super().stop)
            for handle in (*self._step_hooks(), *self._module_hooks()):
                stack.callback(handle.remove)
            self._undo, self._begun = stack.pop_all(), self.clock()

    def stop(self) -> None:
        """All is as it was before."""
        self.finish(self.clock() - self._begun)
        self._undo.close()

    @contextlib.contextmanager
    def watching_program(self) -> Iterator[None]:
        """Watch what runs in the block."""
        self.start()
        try:
            yield
        finally:
            self.stop()

    def _read(self, plain: Any, tensor: Tensor, *args: Any, **keywords: Any) -> Any:
        """A tensor becomes a number; what optimizers, layers and data sets read is theirs."""
        if not self._loading and not sys._getframe(2).f_code.co_filename.startswith(_OWN):
            place = place_of()
            for waste in self.wastes:
                waste.number(tensor, place)
        return plain(tensor, *args, **keywords)

    def _backward(self, plain: Any, *args: Any, **keywords: Any) -> Any:
        entered = self.enter("backward")
        try:
            return plain(*args, **keywords)
        finally:
            self.leave(entered)

    def _made(self, plain: Any, data: Any, *args: Any, **keywords: Any) -> Any:
        start = self.clock()
        made = plain(data, *args, **keywords)
        if not self._loading and isinstance(data, (list, tuple)):
            self.tell("made", place_of(), (made.numel(), self.clock() - start))
        return made

    def _threads(self, plain: Any, count: int) -> None:
        plain(count)
        self.run.threads.append((place_of(), count))

    def _synchronised(self, plain: Any, *args: Any, **keywords: Any) -> None:
        start = self.clock()
        plain(*args, **keywords)
        self.tell("synchronised", place_of(), self.clock() - start)

    def _clear(self, plain: Any, *args: Any, **keywords: Any) -> Any:
        for waste in self.wastes:
            waste.cleared()
        return plain(*args, **keywords)

    def _iterated(self, plain: Any, loader: Any) -> Any:
        return _Loading(self, loader, plain(loader))

    def _graph(self, name: str, cause: str) -> None:
        self.tell("graph", place_of(), (name, cause))

    def before_step(self, optimizer: Any, *rest: Any) -> None:
        for waste in self.wastes:
            waste.before_step(optimizer)

    def after_step(self, *rest: Any) -> None:
        self.run.step += 1
        deliver()
        for waste in self.wastes:
            waste.after_step()

    def _step_hooks(self) -> Iterator[Any]:
        try:
            from taeda.optim import optimizer
        except ImportError:
            return
        yield optimizer.register_optimizer_step_pre_hook(self.before_step)
        yield optimizer.register_optimizer_step_post_hook(self.after_step)

    def _module_hooks(self) -> Iterator[Any]:
        try:
            from taeda.nn.modules import module as modules
        except ImportError:
            return

        def before(module: Any, args: tuple[Any, ...]) -> None:
            if self._loading:
                return
            if (line := calls_module()) is not None:
                for waste in self.wastes:
                    waste.called(module, args, line)
            if sum(one.name.startswith(OUTSIDE) for one in self.open) == 1:  # the outermost
                place = place_of()
                for waste in self.wastes:
                    waste.model(module, args, place)

        yield modules.register_module_forward_pre_hook(before)

    @contextlib.contextmanager
    def loading(self, loader: Any) -> Iterator[None]:
        """A batch is fetched."""
        entered = self.enter("load")
        self._loading += 1
        try:
            yield
        finally:
            self._loading -= 1
            self.leave(entered)
        self.tell("load", place_of(), (entered.end - entered.start, loader))


class _Loading:
    """The batches of a loader, each fetched within a range."""

    def __init__(self, watch: Watch, loader: Any, batches: Any) -> None:
        self._watch, self._loader, self._batches = watch, loader, batches

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._watch.loading(self._loader):
            return next(self._batches)

    def __len__(self) -> int:
        return len(self._batches)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._batches, name)


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


def _loaders() -> Iterator[Any]:
    try:
        from taeda.utils.data import DataLoader

        yield DataLoader
    except ImportError:
        pass  # then nothing is loaded


def _around(stack: contextlib.ExitStack, kind: Any, name: str, wrapper: Callable[..., Any]) -> None:
    """Call `wrapper(plain, ...)` for what `kind` has under `name`, until the stack ends."""
    plain = getattr(kind, name)

    def wrapped(*args: Any, **keywords: Any) -> Any:
        return wrapper(plain, *args, **keywords)

    stack.callback(setattr, kind, name, plain)
    setattr(kind, name, wrapped)


@contextlib.contextmanager
def _heard(name: str, tell: Callable[[str, str], None]) -> Iterator[None]:
    """Lines of a logger go to `tell` alone, whatever its level was."""
    logger = logging.getLogger(name)

    class Ear(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if isinstance(record.args, tuple) and len(record.args) == 2:
                tell(str(record.args[0]), str(record.args[1]))

    ear = Ear()
    before = logger.level
    silent = not logger.isEnabledFor(logging.DEBUG)
    logger.addHandler(ear)
    logger.setLevel(logging.DEBUG)
    passes = logger.propagate
    logger.propagate = passes and not silent
    try:
        yield
    finally:
        logger.removeHandler(ear)
        logger.setLevel(before)
        logger.propagate = passes
