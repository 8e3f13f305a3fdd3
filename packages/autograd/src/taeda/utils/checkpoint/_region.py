"""The variant that records: hooks on saved tensors keep a place instead of each tensor.

    first run     save x ──pack──▶ Place n of the Region (x itself is let go)
    backward      Place n ──unpack──▶ empty? run the function again; the n-th tensor it saves is the one

The inputs are saved as those of a custom function are: checked against later writes, and packed in
turn where checkpoints nest.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as _core
from taeda._core_api.calls import TRANSFORM
from taeda.autograd import Function
from taeda.autograd._regions import computed_again
from taeda.autograd.graph import saved_tensors_hooks
from taeda.utils.op_trace import trace_ops

from ._settings import debugs, stops_early
from ._surroundings import Surroundings

__all__ = ["CheckpointError", "recorded"]


class CheckpointError(RuntimeError):
    """The second run of a checkpointed function did not save what the first one did."""


class _Enough(BaseException):
    """Ends a second run: all is there. No Exception, so that no handler inside the function takes
    it for an error.
    """


class _Inputs(Function):
    """Saves tensors as any operation saves its inputs."""

    @staticmethod
    def forward(ctx: Any, kept: list[Any], anchor: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        kept.append(ctx)
        return anchor.detach()

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        raise AssertionError("nothing is computed from what this returns")


class _Call:
    """A function with its arguments; tensors among them are saved, not held."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.function, self.names = function, tuple(kwargs)
        values = [*args, *kwargs.values()]
        self.rest = [None if isinstance(v, Tensor) else v for v in values]
        self.at = [i for i, v in enumerate(values) if isinstance(v, Tensor)]
        kept: list[Any] = []
        anchor = taeda.empty(0, device="cpu", requires_grad=True)
        # its node owns what ctx shows
        self.saved = _Inputs.apply(kept, anchor, *(values[i] for i in self.at))
        self.ctx = kept[0]

    def again(self) -> Any:
        values = list(self.rest)
        for i, tensor in zip(self.at, self.ctx.saved_tensors, strict=True):
            values[i] = tensor
        count = len(values) - len(self.names)
        return self.function(*values[:count], **dict(zip(self.names, values[count:], strict=True)))


class _Place:
    """Stands in the graph for one saved tensor."""

    __slots__ = ("__weakref__", "number", "region", "value", "version")

    def __init__(self, region: _Region, number: int) -> None:
        self.region, self.number = region, number
        self.value: Tensor | None = None
        self.version = 0

    def fill(self, value: Tensor) -> None:
        self.value, self.version = value, value._version

    def check(self, value: Tensor) -> Tensor:
        if value._version != self.version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an "
                "inplace operation: a tensor of "
                f"shape {list(value.shape)} inside a checkpointed function was written after an "
                "operation had saved it"
            )
        return value


class _Region:
    """One checkpointed call: what its first run saved, in order, and how to run it again."""

    def __init__(
        self,
        call: _Call,
        preserve: bool,
        again: AbstractContextManager[Any],
        checked: bool,
        early_stop: bool,
    ) -> None:
        self.call, self.context = call, again
        self.surroundings = Surroundings(preserve)
        self.checked, self.early_stop = checked, early_stop
        self.places: list[weakref.ref[_Place]] = []
        self.facts: list[tuple[Any, ...]] = []
        self.trace: trace_ops | None = None

    # ---- the first run ----

    def pack(self, tensor: Tensor) -> _Place:
        place = _Place(self, len(self.places))
        self.places.append(weakref.ref(place))
        self.facts.append(_facts(tensor))
        return place

    @staticmethod
    def unpack(place: _Place) -> Tensor:
        if place.value is None:
            place.region.fill()
        value = place.value
        if value is None:
            raise CheckpointError(
                f"checkpoint: the second run saved no tensor number {place.number}: the function "
                "took another way than before"
            )
        if _core.backward_task() is None:
            place.region.forget()  # nobody will say when the values are done with
        return place.check(value)

    # ---- the others ----

    def fill(self) -> None:
        """Run again, and put what is saved into the places that somebody still holds."""
        if _core.backward_task() is not None:
            _core.queue_callback(self.forget)
        run = _Again(self)
        with _traced(self.trace is not None) as trace:
            run.trace = trace
            try:
                self._run(run)
                run.check_count()
            except CheckpointError as error:
                raise CheckpointError(f"{error}{_lists(self.trace, trace)}") from None

    def _run(self, run: _Again) -> None:
        # The innermost hooks hold, so no checkpoint around this one sees what is saved here; its
        # inputs it must see.
        with (
            self.surroundings.restored(),
            self.context,
            computed_again(),
            saved_tensors_hooks(run.pack, _unchanged),
            contextlib.suppress(_Enough),
        ):
            self.call.again()

    def forget(self) -> None:
        for reference in self.places:
            place = reference()
            if place is not None:
                place.value = None


class _Again:
    """Counts what a second run saves."""

    def __init__(self, region: _Region) -> None:
        self.region, self.count = region, 0
        self.trace: trace_ops | None = None
        alive = [i for i, place in enumerate(region.places) if place() is not None]
        self.needed = alive[-1] + 1 if region.early_stop else -1

    def pack(self, tensor: Tensor) -> Tensor:
        region, number = self.region, self.count
        self.count += 1
        if number < len(region.places):
            place = region.places[number]()
            if place is not None:
                self._compare(number, tensor)
                place.fill(tensor)
        if self.count == self.needed:
            raise _Enough
        return self._apart(tensor)

    def _apart(self, tensor: Tensor) -> Tensor:
        """For the graph of this run: a node that saved its own result would hold itself."""
        if tensor.grad_fn is None:
            return tensor
        listed = 0 if self.trace is None else len(self.trace.calls)
        made = tensor.detach()
        if self.trace is not None:
            del self.trace.calls[listed:]  # no operation of the function
        return made

    def _compare(self, number: int, tensor: Tensor) -> None:
        now, then = _facts(tensor), self.region.facts[number]
        if self.region.checked and now != then:
            raise CheckpointError(
                "checkpoint: Recomputed values for the following tensors have different metadata "
                "than during the forward pass.\n"
                f"tensor at position {number}:\nsaved metadata: {_named(then)}\nrecomputed "
                f"metadata: {_named(now)}"
            )

    def check_count(self) -> None:
        saved = len(self.region.places)
        complete = self.count == (self.needed if self.needed >= 0 else saved)
        if self.region.checked and not complete:
            raise CheckpointError(
                "checkpoint: A different number of tensors was saved during the original forward "
                "and recomputation.\n"
                f"Number of tensors saved during forward: {saved}\nNumber of tensors saved during "
                f"recomputation: {self.count}"
            )


def _unchanged(value: Tensor) -> Tensor:
    """The graph of a second run is walked where the function itself walks it."""
    return value


def _facts(tensor: Tensor) -> tuple[Any, ...]:
    return tensor.shape, tensor.dtype, tensor.device


def _named(facts: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(("shape", "dtype", "device"), facts, strict=True))


@contextlib.contextmanager
def _traced(wanted: bool) -> Iterator[trace_ops | None]:
    if not wanted:
        yield None
        return
    with trace_ops() as trace:
        yield trace


def _lists(first: trace_ops | None, second: trace_ops | None) -> str:
    if first is None or second is None:
        return "\nTip: with debug=True the operations of both runs are listed."
    runs = (("original", first), ("recomputation", second))
    return "".join(
        f"\nOperations executed during the {name}:\n"
        + "\n".join(f"    {c.op} {c.shapes}" for c in trace.calls)
        for name, trace in runs
    )


def recorded(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    preserve_rng_state: bool,
    context_fn: Callable[[], tuple[AbstractContextManager[Any], AbstractContextManager[Any]]],
    checked: bool,
    debug: bool,
    early_stop: bool,
) -> Any:
    """Run the function once, keeping places instead of what it saves.

    Inside of a map and in forward mode what it saves is kept: samples and tangents are gone when a second run
    would need them.
    """
    first, again = context_fn()
    if not taeda.is_grad_enabled() or _core.is_forward_on() or _core.get_layers() & TRANSFORM:
        with first:
            return function(*args, **kwargs)
    region = _Region(
        _Call(function, args, kwargs), preserve_rng_state, again, checked, stops_early(early_stop)
    )
    with (
        _traced(debugs(debug)) as region.trace,
        first,
        computed_again(),
        saved_tensors_hooks(region.pack, region.unpack),
    ):
        return function(*args, **kwargs)
