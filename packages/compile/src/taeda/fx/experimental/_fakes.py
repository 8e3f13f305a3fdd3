"""A recorded call without values: shapes follow from shapes, and no kernel runs.

A fake is a tensor of the right kind whose memory nobody has written. It is made as large as the
tensor it stands for, but the system gives pages only to what is touched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import programs as _core
from taeda.compiler._graph.capture import Capture

from ._data_sizes import DataSizes, blank_of

__all__ = ["FakeCapture", "NoValue", "fake_of", "fakes_of"]

_VIEW = _core.row_flags["VIEW"] | _core.row_flags["DETACHES"]
_SHAPED_AS_FIRST = frozenset(("index_put", "index_put_"))
_flags = {text: flags for text, _, _, _, _, flags in _core.op_rows()}


class NoValue(RuntimeError):
    """The program asks for what only a real tensor has."""


def fake_of(tensor: Tensor, shape: tuple[int, ...] | None = None) -> Tensor:
    """A tensor without values in place of `tensor`, or of another shape, laid out in the same order."""
    if shape is None or shape == tuple(tensor.shape):
        place = tuple(tensor.shape), tuple(tensor.stride())
    else:
        place = shape, _strides(tensor, shape)
    made = taeda.empty_strided(*place, dtype=tensor.dtype, device=tensor.device)
    if isinstance(tensor, nn.Parameter):
        return nn.Parameter(made, requires_grad=tensor.requires_grad)
    return made.requires_grad_(tensor.requires_grad)


def fakes_of(value: Any, known: dict[int, Tensor] | None = None) -> Any:
    """Fakes in place of the tensors of a tree; one tensor twice is one fake twice."""
    known = {} if known is None else known
    if isinstance(value, Tensor):
        if id(value) not in known:
            known[id(value)] = fake_of(value)
        return known[id(value)]
    if isinstance(value, tuple | list):
        parts = [fakes_of(v, known) for v in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if isinstance(value, dict):
        return {key: fakes_of(v, known) for key, v in value.items()}
    return value


def _strides(tensor: Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Dense strides in the order of the tensor's own; 0 where a dimension repeats one element."""
    old, made, step = tensor.stride(), [0] * len(shape), 1
    for dim in sorted(range(len(shape)), key=lambda d: (old[d], -d)):
        if old[dim] or tensor.shape[dim] < 2:
            made[dim], step = step, step * shape[dim]
    return tuple(made)


def _one_step(functions: Any, tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    _, body = functions
    made: tuple[Tensor, ...] = body(*tensors)
    return made


class FakeCapture(Capture):
    """Records a call; what a kernel would make is a fake. With `data`, sizes that data decide are
    symbols.
    """

    data: DataSizes | None = None

    def control(self, what: Any, functions: Any, tensors: tuple[Tensor, ...], below: Any) -> Any:
        """A loop does one step: fakes hold no values, so its condition might never fail."""
        if what.name == "while_loop":
            return super().control(what, functions, tensors, _one_step)
        return super().control(what, functions, tensors, below)

    def call_into(
        self, op: str, args: tuple[Any, ...], run: Callable[[], Any], targets: Any
    ) -> Any:
        """One kernel call, by its shape rule. NoValue where the shape depends on values."""
        self.check()
        if not self.active:
            return run()
        made = super().call_into(op, args, lambda: self._blank(op, args, run, targets), targets)
        self.check()
        return made

    def put_back(self) -> None:
        """Real tensors have the gradients that they had: those of the trace hold nothing."""
        for leaf, before, now in self.gradients():
            if now is not before:
                leaf.grad = before

    def check(self) -> None:
        """NoValue if the recording has failed: what follows would run on memory nobody wrote."""
        if self.reason:
            raise NoValue(self.reason)

    def _blank(self, op: str, args: Any, run: Callable[[], Any], targets: Any) -> Any:
        if op in _flags and _flags[op] & _VIEW:
            return run()
        known: list[tuple[Tensor, Tensor]] = []
        try:
            given = tuple(_on_meta(a, known) for a in args)
            if op in _SHAPED_AS_FIRST:  # a mask among the indices hides only how many it chooses
                blank = taeda.empty_like(given[0])
            else:
                blank = _core.call_backend(op, given)
        except NotImplementedError as error:
            made = self._of_data(op, given, args, known)
            if made is None:
                raise NoValue(f"{op} has no shape without values: {error}") from error
            return made
        if targets:
            return _kept(blank, targets)
        return _filled(blank, known, _device(args, known))

    def _of_data(self, op: str, given: Any, args: Any, known: Any) -> Any:
        """A result with a size that data decide; None where that is no symbol."""
        data = self.data
        if data is None or blank_of(op, given, 2) is None:
            return None
        name = data.symbol_of(op, args)
        made = _filled(blank_of(op, given, data.env.var_to_val[name]), known, _device(args, known))
        self.sized(name, data.shape(name, op, given, made), made)
        return made

    def sized(self, name: str, dims: tuple[int, ...], made: Any) -> None:
        """A result has sizes that are this symbol in these dimensions of its first tensor."""


def _on_meta(value: Any, known: list[tuple[Tensor, Tensor]]) -> Any:
    if isinstance(value, Tensor):
        made = taeda.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
        known.append((made, value))
        return made
    if isinstance(value, tuple | list) and any(isinstance(v, Tensor) for v in value):
        return type(value)(_on_meta(v, known) for v in value)
    return taeda.device("meta") if isinstance(value, taeda.device) else value


def _device(args: Any, known: list[tuple[Tensor, Tensor]]) -> Any:
    """Where the results lie: as the call says, else where the first tensor with a dimension does."""
    named = [a for a in args if isinstance(a, taeda.device)]
    found = [t.device for _, t in sorted(known, key=lambda pair: not pair[1].dim())]
    return (*named, *found, taeda.get_default_device())[0]


def _filled(blank: Any, known: list[tuple[Tensor, Tensor]], device: Any) -> Any:
    """Fakes in place of meta tensors; one that was an argument is that argument."""
    if isinstance(blank, Tensor):
        for made, value in known:
            if made is blank:
                return value
        place = tuple(blank.shape), tuple(blank.stride())
        return taeda.empty_strided(*place, dtype=blank.dtype, device=device)
    if isinstance(blank, tuple | list):
        return type(blank)([_filled(b, known, device) for b in blank])
    return blank


def _kept(blank: Any, targets: tuple[Tensor, ...]) -> Any:
    """What an in-place call stores: what the targets hold already, so that nothing changes."""
    several = blank if isinstance(blank, tuple | list) else (blank,)
    made = [
        t.detach() if tuple(t.shape) == tuple(b.shape) else taeda.empty_like(b, device=t.device)
        for b, t in zip(several, targets, strict=True)
    ]
    return type(blank)(made) if isinstance(blank, tuple | list) else made[0]
