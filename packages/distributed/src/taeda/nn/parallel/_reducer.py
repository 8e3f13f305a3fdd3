"""Gradients averaged over ranks while backward still computes others.

A bucket is reduced when its last gradient is there, but buckets start in the order of their numbers
on every rank, so that all ranks call the same collectives in the same order. The end of backward
waits for all of them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda.distributed._bucket_view import GradBucket
from taeda.distributed._collectives import all_reduce, broadcast
from taeda.distributed._groups.group import ProcessGroup
from taeda.distributed._types import ReduceOp

from ._buckets import MIB, Bucket, assign, build

__all__ = ["Reducer"]

Hook = Callable[[Any, GradBucket], Any]


class Reducer:
    """The buckets of one wrapped module, and the state of its backward."""

    def __init__(
        self,
        group: ProcessGroup,
        named: Sequence[tuple[str, Tensor]],
        cap: int | None,
        as_views: bool,
        find_unused: bool,
        static: bool,
    ) -> None:
        self.group = group
        self.names = [name for name, _ in named]
        self.params = [param for _, param in named]
        self.as_views, self.find_unused, self.static = as_views, find_unused, static
        self.first = MIB if cap is None else cap
        self.rest = 25 * MIB if cap is None else cap
        self.hook: Hook | None = None
        self.hook_state: Any = None
        self.sync = True
        self.expects = False  # a forward ran whose backward will reduce
        self.divide_by = group.size()
        self.rebuilt = False
        self.iteration = 0
        self.order: list[int] = []  # in which gradients came
        self.unused: set[int] = set()
        self._running = False
        self._next = 0
        self.buckets = self._build(list(reversed(range(len(self.params)))))
        me = weakref.ref(self)
        self._handles = [
            param.register_post_accumulate_grad_hook(_hook_of(me, number))
            for number, param in enumerate(self.params)
        ]

    def _build(self, order: Sequence[int]) -> list[Bucket]:
        buckets = build(self.group, self.params, assign(self.params, order, self.first, self.rest))
        self._place = {
            number: (bucket, view)
            for bucket in buckets
            for number, view in zip(bucket.numbers, bucket.views, strict=True)
        }
        return buckets

    # ---- before ----

    def prepare(self, outputs: Any) -> None:
        """A forward is over, and its backward will reduce."""
        self.unused = self._unused(outputs) if self.find_unused else set()
        for bucket in self.buckets:
            bucket.waiting = set(bucket.numbers)
            bucket.work = None
        self._next, self.order, self.expects = 0, [], True
        if self.unused and len(self.unused) == len(self.params):
            self.expects = False  # no output depends on a parameter: there will be no backward

    def _unused(self, outputs: Any) -> set[int]:
        """Parameters that no output depends on, by a walk over the graph."""
        seen: set[Any] = set()
        todo = [t.grad_fn for t in tensors_in(outputs) if t.grad_fn is not None]
        used = {id(t) for t in tensors_in(outputs) if t.grad_fn is None and t.requires_grad}
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            variable = getattr(node, "variable", None)
            if variable is not None:
                used.add(id(variable))
            todo += [after for after, _ in node.next_functions if after is not None]
        return {number for number, param in enumerate(self.params) if id(param) not in used}

    def check_finished(self) -> None:
        """RuntimeError if the last backward left gradients out, which names them."""
        if not self.expects or not self.order:
            return
        missing = sorted(number for bucket in self.buckets for number in bucket.waiting)
        if missing:
            names = ", ".join(self.names[number] for number in missing)
            raise RuntimeError(
                "Expected to have finished reduction in the prior iteration: rank "
                f"{self.group.rank()} got no gradient "
                f"for {len(missing)} of {len(self.params)} parameters: {names}. If they take no "
                "part in the loss on "
                "purpose, pass find_unused_parameters=True to DistributedDataParallel; all outputs "
                "of forward must "
                "take part in the loss then"
            )

    # ---- during backward ----

    def mark(self, number: int) -> None:
        """The gradient of a parameter is there."""
        if not (self.sync and self.expects):
            return
        if not self._running:
            self._running = True
            core.queue_callback(self._finish)
            for other in self.unused:
                self._mark(other, False)
        bucket, _ = self._place[number]
        if number in self.unused:
            return  # it took part behind the outputs' back; its gradient stays local
        if number not in bucket.waiting:
            raise RuntimeError(
                f"the parameter {self.names[number]} got its gradient twice in one backward: it is "
                "used in several "
                "checkpointed parts, or in several forward passes. Pass static_graph=True if every "
                "step does so"
            )
        self.order.append(number)
        self._mark(number, True)

    def _mark(self, number: int, has_gradient: bool) -> None:
        bucket, view = self._place[number]
        grad = self.params[number].grad if has_gradient else None
        if grad is None:
            view.zero_()
        elif grad.data_ptr() != view.data_ptr():
            view.copy_(grad.detach())
            if self.as_views:
                self.params[number].grad = view
        bucket.waiting.discard(number)
        while self._next < len(self.buckets) and not self.buckets[self._next].waiting:
            self._launch(self._next)
            self._next += 1

    def _launch(self, index: int) -> None:
        bucket, last = self.buckets[index], index == len(self.buckets) - 1
        if self.hook is None:
            if not last:  # behind which nothing is left to compute: `_collect` carries it itself
                bucket.work = self._reduce(bucket, async_op=True)
            return
        params = [self.params[number] for number in bucket.numbers]
        seen = GradBucket(index, bucket.buffer, bucket.views, params, bucket.lengths, last)
        bucket.work = self.hook(self.hook_state, seen)
        if not hasattr(bucket.work, "then"):
            raise RuntimeError(
                f"a communication hook returns a taeda.futures.Future, not {type(bucket.work).__name__}"
            )

    # ---- at the end of backward ----

    def _finish(self) -> None:
        self._running = False
        if self._next < len(self.buckets):
            return  # the next forward tells which parameters are missing
        everywhere_unused = self._unused_everywhere()
        for bucket in self.buckets:
            self._collect(bucket)
        for number, param in enumerate(self.params):
            if number not in everywhere_unused:
                self._give(number, param)
        self.expects = False
        self.iteration += 1
        if not self.rebuilt and (self.static or not self.find_unused):
            self._rebuild()

    def _collect(self, bucket: Bucket) -> None:
        """Wait for a bucket; its buffer then holds the mean."""
        bucket_work, bucket.work = bucket.work, None
        if self.hook is None:
            if bucket_work is None:
                self._reduce(bucket, async_op=False)
            else:
                bucket_work.wait()
            if self.divide_by != self.group.size():
                bucket.buffer.div_(self.divide_by)
            return
        result = bucket_work.wait()
        result = result[0] if isinstance(result, (list, tuple)) else result
        if result.data_ptr() != bucket.buffer.data_ptr():
            bucket.buffer.copy_(result.view(-1))

    def _reduce(self, bucket: Bucket, async_op: bool) -> Any:
        """The mean over all ranks, or where another number divides it the sum."""
        op = ReduceOp.AVG if self.divide_by == self.group.size() else ReduceOp.SUM
        return all_reduce(bucket.buffer, op, self.group, async_op)

    def _give(self, number: int, param: Tensor) -> None:
        """Let the parameter have the mean as its gradient."""
        _, view = self._place[number]
        grad = param.grad
        if self.as_views:
            if grad is None or grad.data_ptr() != view.data_ptr():
                param.grad = view
        elif grad is None:
            param.grad = view.clone()
        else:
            grad.detach().copy_(view)

    def _unused_everywhere(self) -> set[int]:
        """Parameters that no rank used keep the gradient they have.
        Only with find_unused is there anything to ask.
        """
        if not self.find_unused:
            return set()
        used = taeda.ones(len(self.params), dtype=taeda.int32, device=self.params[0].device)
        for number in self.unused:
            used[number] = 0
        all_reduce(used, ReduceOp.MAX, self.group)
        return {number for number, one in enumerate(used.tolist()) if not one}

    def _rebuild(self) -> None:
        """Buckets anew, in the order in which rank 0 got the gradients. What they hold moves along."""
        self.rebuilt = True
        order = taeda.tensor(self.order, dtype=taeda.int64, device=self.params[0].device)
        broadcast(order, group=self.group, group_src=0)
        grads = [param.grad for param in self.params]
        self.buckets = self._build(order.tolist())
        if self.as_views:
            for number, (param, grad) in enumerate(zip(self.params, grads, strict=True)):
                if grad is not None:
                    _, view = self._place[number]
                    view.copy_(grad)
                    param.grad = view

    def shadow(self) -> None:
        """Take part in one backward of the others with zeros: this rank has run out of inputs."""
        if self.find_unused:
            raise RuntimeError("join with find_unused_parameters=True is not supported")
        for index, bucket in enumerate(self.buckets):
            bucket.buffer.zero_()
            self._launch(index)
        for bucket in self.buckets:
            self._collect(bucket)
        for number, param in enumerate(self.params):
            self._give(number, param)

    def close(self) -> None:
        """Take the hooks off the parameters."""
        for handle in self._handles:
            handle.remove()


def _hook_of(reducer: weakref.ref[Reducer], number: int) -> Callable[[Tensor], None]:
    """The hook of one parameter; it keeps nothing alive."""

    def on_gradient(_: Tensor) -> None:
        alive = reducer()
        if alive is not None:
            alive.mark(number)

    return on_gradient


def tensors_in(value: Any) -> Iterable[Tensor]:
    """Every tensor in nested lists, tuples, dicts and dataclasses."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from tensors_in(part)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from tensors_in(part)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from tensors_in(getattr(value, name))
