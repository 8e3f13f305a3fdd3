"""Gradients averaged over ranks while backward still computes others.

A bucket is reduced when its last gradient is there, but buckets start in the order of their numbers
on every rank, so that all ranks call the same collectives in the same order. The end of the
outermost backward waits for all of them.

What is reduced is the gradient that a parameter holds, with all that was added to it since the last
time: under `no_sync`, by several forwards, by calls of the module inside the wrapper. Which
parameters took part is known from the gradients that came, never from a look at the outputs. So with
`find_unused` a bucket that waits for a gradient leaves at the end of backward: until then it may
still come.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import runtime as core
from taeda.distributed._bucket_view import GradBucket
from taeda.distributed._collectives import all_reduce, broadcast
from taeda.distributed._groups.group import ProcessGroup
from taeda.distributed._types import ReduceOp

from . import _guard, _sparse, _texts
from ._buckets import MIB, Bucket, assign, build
from ._late import Late
from ._walks import Output, Walk, watch_gradients, watch_outputs

__all__ = ["Reducer"]

Hook = Callable[[Any, GradBucket], Any]


class Reducer:
    """The buckets of one wrapped module, and the state of its backward.

    A pass begins with the first gradient of a backward that synchronises, and ends when all buckets
    hold the mean: usually with the same backward, else with a later one.
    """

    def __init__(
        self,
        group: ProcessGroup,
        named: Sequence[tuple[str, Tensor]],
        cap: int | None,
        as_views: bool,
        find_unused: bool,
        static: bool,
        skip: bool = False,
        whole: bool = False,
        sparse: Collection[str] = (),
    ) -> None:
        self.group = group
        self.names = [name for name, _ in named]
        self.params = [param for _, param in named]
        self.sparse = {number for number, name in enumerate(self.names) if name in sparse}
        self.as_views, self.static = as_views, static
        self.find_unused = find_unused and not static
        self.skip = skip  # buckets that no rank uses are not reduced
        self.whole = whole  # one backward must bring all gradients
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
        self.touched: set[int] = set()  # got a gradient since the last mean
        self.late = Late(self.params, self.touched)
        self.around: set[int] = set()  # of these, outside of no_sync and of any forward
        self.frozen: set[int] = set()
        self.counts: list[int] | None = None  # static: gradients of each in the first pass
        self.spare: set[int] | None = None  # static: parameters that no rank used in it
        self._left: list[int] = []  # static: gradients that are still to come
        self._walk: Walk | None = None
        self._open = False
        self._failed = False
        self._watched = False  # optimizers ask before their steps
        self._shadows = False  # this rank has run out of inputs
        self._skipped: set[int] = set()  # buckets of this pass
        self._saved: dict[int, Tensor] = {}  # gradients that lie in a buffer, for nobody's mean
        self._outputs: list[weakref.ref[Output]] = []  # since the last mean
        self._hidden = 0  # forwards whose outputs were not found, and whose backwards are to come
        self._next = 0
        self.buckets = self._build(list(reversed(range(len(self.params)))))
        self._handles = watch_gradients(self.params, self.mark)

    def _build(self, order: Sequence[int]) -> list[Bucket]:
        dense = [number for number in order if number not in self.sparse]
        buckets = build(self.group, self.params, assign(self.params, dense, self.first, self.rest))
        buckets += [_sparse.bucket(self.params[n], n) for n in order if n in self.sparse]
        self._place = {
            number: (bucket, view)
            for bucket in buckets
            for number, view in zip(bucket.numbers, bucket.views, strict=True)
        }
        return buckets

    # ---- before ----

    def prepare(self, outputs: Any) -> None:
        """A forward is over, and its backward will reduce."""
        self.expects = True
        found = watch_outputs(outputs, True, self._came_by)
        if len(self._outputs) > 100:  # forwards without a backward
            self._outputs = [one for one in self._outputs if one() is not None]
        self._outputs += [weakref.ref(output) for output in found]
        self._hidden += not found

    def keep_local(self, outputs: Any) -> None:
        """A forward under no_sync is over: its backward alone reduces nothing."""
        watch_outputs(outputs, False, self._came_by)

    def freeze(self, numbers: set[int]) -> None:
        """These parameters need no gradient now, on all ranks."""
        held = sorted(n for n in numbers & self.touched if self.params[n].grad is not None)
        if held:
            raise RuntimeError(
                f"frozen before their gradients were averaged: {self._named(held)}. Freeze "
                "parameters after a step, or clear their gradients first"
            )
        self.frozen, self.counts, self.spare = numbers, None, None
        self.late.watch()

    def check_finished(self) -> None:
        """RuntimeError if the last backward left gradients out, which names them."""
        if self._open and self._walk is None:
            raise RuntimeError(self._unfinished())

    def check_averaged(self, params: set[int]) -> None:
        """RuntimeError if one of the parameters with these ids has a gradient of this rank alone."""
        numbers = range(len(self.params)) if self._open else sorted(self.around)
        held = [
            n for n in numbers if id(self.params[n]) in params and self.params[n].grad is not None
        ]
        if held and self._open:
            raise RuntimeError(self._unfinished())
        if held:
            raise RuntimeError(_texts.stepped(self._named(held)))

    def _unfinished(self) -> str:
        missing = sorted(number for bucket in self.buckets for number in bucket.waiting)
        return _texts.unfinished(
            self.group.rank(), self._named(missing), len(missing), len(self.params)
        )

    def _named(self, numbers: Iterable[int]) -> str:
        return ", ".join(self.names[number] for number in numbers)

    # ---- during backward ----

    def _here(self) -> Walk:
        walk = self._walk
        if walk is None:
            walk = self._walk = Walk()
            core.queue_outer_callback(self._ended)
        elif walk.thread != threading.get_ident():
            raise RuntimeError(
                "two threads run backward through one DistributedDataParallel at the same time; "
                "let one wait for the other"
            )
        return walk

    def _came_by(self, output: Output) -> None:
        """A backward runs the node of an output."""
        walk = self._here()
        output.passed = True
        walk.limited |= bool(core.backward_task()[1])
        if not output.averages:
            walk.local = True
        elif not walk.averages:
            self._average(walk)

    def mark(self, number: int) -> None:
        """The gradient of a parameter is there."""
        walk = self._walk
        if walk is None or walk.thread != threading.get_ident():
            walk = self._here()
        walk.arrived.append(number)
        self.touched.add(number)
        if walk.averages:
            self._arrive(number)
        elif self.expects and self.sync and not walk.local:
            self._average(walk)

    def _average(self, walk: Walk) -> None:
        walk.averages = True
        for number in walk.arrived:
            self._arrive(number)

    def _begin(self) -> None:
        """A pass."""
        if self._failed:
            raise RuntimeError(self._unfinished())
        self._open, self._next, self.order = True, 0, []
        for bucket in self.buckets:
            bucket.waiting = set(bucket.numbers)
            bucket.work = None
        self._skipped.clear()
        for number in sorted(self.frozen):
            self._ready(number)
        self._left = [0] * len(self.params) if self.counts is None else list(self.counts)
        if self.counts is not None:
            for number in self._absent():
                self._ready(number)

    def _absent(self) -> list[int]:
        """Parameters that get no gradient on this rank, with a static graph."""
        return [n for n, count in enumerate(self._left) if not count and n not in self.frozen]

    def _arrive(self, number: int) -> None:
        if not self._open:
            self._begin()
        self.order.append(number)
        if self.static and self.counts is None:
            self._left[number] += 1  # the first pass counts
            return
        bucket, _ = self._place[number]
        if self.static:
            self._left[number] -= 1
            if self._left[number] > 0:
                return
        if number not in bucket.waiting:
            raise RuntimeError(_texts.twice(self.names[number], self.static))
        self._ready(number)

    def _ready(self, number: int) -> None:
        """What the parameter holds now goes into its bucket; full buckets leave in their order."""
        bucket, view = self._place[number]
        self._fill(number, view)
        bucket.waiting.discard(number)
        if bucket.waiting:
            return
        while self._next < len(self.buckets) and not self.buckets[self._next].waiting:
            self._launch(self._next)
            self._next += 1

    def _fill(self, number: int, view: Tensor) -> None:
        if number in self.sparse:
            return  # it travels as it is, when all buckets are under way
        grad, new = self.params[number].grad, number in self.touched
        if self.late.count:
            self.late.look(number)
        inside = grad is not None and grad.data_ptr() == view.data_ptr()
        if inside and not new:
            self._saved[number] = view.clone()  # it must outlive a mean that nobody takes
        if grad is None or (self._shadows and not new):
            view.zero_()
            return
        if not inside:
            view.copy_(grad.detach())
            if self.as_views and new:
                self.params[number].grad = view
        if self.late.count and not self._shadows and self.divide_by == self.group.size():
            self.late.add_share(number, view, self.group.size())

    def _launch(self, index: int) -> None:
        bucket, last = self.buckets[index], index == len(self.buckets) - 1
        if bucket.sparse:
            return
        if self._may_skip(bucket):
            self._skipped.add(index)
            return
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

    def _may_skip(self, bucket: Bucket) -> bool:
        if not self.skip:
            return False
        if self.spare is not None:
            return self.spare.issuperset(bucket.numbers)
        return not self._used(bucket.numbers)

    def _used(self, numbers: Iterable[int]) -> set[int]:
        """Those of which this rank holds something new."""
        return {n for n in self.touched.intersection(numbers) if self.params[n].grad is not None}

    # ---- at the end of backward ----

    def _ended(self, well: bool) -> None:
        """The outermost backward is over."""
        walk, self._walk = self._walk, None
        if walk is None:
            return
        try:
            if not well:
                self._failed = self._open
            elif walk.averages:
                self._end_averaging(walk)
            elif not walk.local and self.sync and self.group.size() > 1:
                self.around.update(walk.arrived)
        finally:
            if (self._open or self.around) and not self._watched:
                _guard.watch(self)
                self._watched = True

    def _end_averaging(self, walk: Walk) -> None:
        waits = self.find_unused or self.static  # for ranks on which others took part
        if not walk.arrived and (walk.limited or not waits):
            return  # of autograd.grad, or of outputs that no parameter computed
        if not self._open:
            self._begin()
        if self.find_unused or (self.static and self.counts is None):
            for bucket in self.buckets:
                for number in sorted(bucket.waiting):
                    self._ready(number)
        if self._next == len(self.buckets):
            self._finish()
        elif self.static or self.whole or not self._is_more_to_come():
            self._failed = True
            raise RuntimeError(self._changed() if self.static else self._unfinished())

    def _is_more_to_come(self) -> bool:
        """Are there outputs that no backward came by?"""
        alive = [output() for output in self._outputs]
        return any(output is not None and not output.passed for output in alive)

    def _changed(self) -> str:
        missing = [number for number, left in enumerate(self._left) if left > 0]
        return _texts.fewer(self.group.rank(), self._named(missing))

    def _finish(self) -> None:
        """All buckets are under way: take the means."""
        kept = self._kept()
        self._check_late()
        for index, bucket in enumerate(self.buckets):
            if bucket.sparse:
                self._give_sparse(bucket.numbers[0], kept)
            elif index not in self._skipped:
                self._collect(bucket)
        for number, param in enumerate(self.params):
            if number in self.sparse:
                continue
            if number not in kept:
                self._give(number, param)
            elif number in self._saved:
                self._place[number][1].copy_(self._saved[number])
        self._close_pass(sorted(self._used(kept)) if kept else ())
        if not self.rebuilt and not self.find_unused:
            self._rebuild()

    def _close_pass(self, left_out: Sequence[int]) -> None:
        if self.static and self.counts is None and not self._shadows:
            self.counts = self._left
        self.touched.clear()
        self.around.clear()
        self._saved.clear()
        self._outputs.clear()
        self.late.forget()
        self._hidden = max(self._hidden - 1, 0)
        self._open, self.expects = False, bool(self._hidden)
        self.iteration += 1
        if self._watched:
            _guard.forget(self)
            self._watched = False
        if left_out:
            self._failed = self._open = True
            raise RuntimeError(
                f"{self._named(left_out)} got gradients of this rank alone: they are frozen, or "
                "static_graph=True and no rank used them in the first step. Leave static_graph out"
            )

    def _kept(self) -> set[int]:
        """Parameters that keep the gradient they have: no rank has used them."""
        if self.static and self.spare is not None:
            return self.spare | self.frozen
        if not (self.find_unused or self.static):
            return self.frozen
        kept = self._unused_everywhere()
        if self.static:
            self.spare = kept
        return kept | self.frozen

    def _unused_everywhere(self) -> set[int]:
        used = self._used(range(len(self.params)))
        flags = [number in used for number in range(len(self.params))]
        if not self.skip:
            return {n for n, one in enumerate(self._of_any(flags)) if not one}
        both = self._of_any([*flags, *(not one for one in flags)])
        some, not_all = both[: len(flags)], both[len(flags) :]
        parted = [n for n in range(len(flags)) if some[n] and not_all[n]]
        if parted:
            self._failed = True
            raise RuntimeError(
                "skip_all_reduce_unused_params=True, but some ranks used "
                f"{self._named(parted)} and others did not. Pass find_unused_parameters=True alone"
            )
        return {n for n, one in enumerate(some) if not one}

    def _of_any(self, flags: Sequence[bool]) -> list[int]:
        """Which of the flags any rank has set."""
        device = self.params[0].device
        told = taeda.tensor([int(one) for one in flags], dtype=taeda.int32, device=device)
        all_reduce(told, ReduceOp.MAX, self.group)
        made: list[int] = told.tolist()
        return made

    def _check_late(self) -> None:
        """A rank without inputs holds what it added to gradients that the others had not cleared:
        how much of that all have already, nobody knows.
        """
        if not self.late.count:
            return
        new = self._shadows and bool(self._used(range(len(self.params))))
        if all(self._of_any([self.late.is_unclear(), new])):
            self._failed = True
            raise RuntimeError(
                "join: a rank ran out of inputs amid an accumulation, and the others cleared "
                "gradients since then, or had not cleared them after the last mean. Let every rank "
                "end with a backward that synchronises"
            )

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

    def _give_sparse(self, number: int, kept: set[int]) -> None:
        """Let the parameter have the mean of gradients that name their rows."""
        param = self.params[number]
        if number in self.frozen:
            return
        mine = None if self._shadows and number not in self.touched else param.grad
        mean = _sparse.mean(mine, param, self.group, self.divide_by)
        if number not in kept:
            param.grad = mean

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

    def _rebuild(self) -> None:
        """Buckets anew, in the order in which rank 0 got the gradients. What they hold moves along."""
        self.rebuilt = True
        came = list(dict.fromkeys(reversed(self.order)))[::-1]  # each by its last gradient
        rest = set(range(len(self.params))).difference(came)
        full = [*came, *sorted(rest, reverse=True)]
        order = taeda.tensor(full, dtype=taeda.int64, device=self.params[0].device)
        broadcast(order, group=self.group, group_src=0)
        grads = [param.grad for param in self.params]
        self.buckets = self._build(order.tolist())
        if self.as_views:
            for number, (param, grad) in enumerate(zip(self.params, grads, strict=True)):
                if grad is not None and number not in self.sparse:
                    _, view = self._place[number]
                    view.copy_(grad)
                    param.grad = view

    # ---- join ----

    def shadow(self) -> None:
        """Take part in one backward of the others: with what this rank has not given yet, else with
        zeros.
        """
        self._shadows = True
        try:
            self._begin()
            for bucket in self.buckets:
                for number in sorted(bucket.waiting):
                    self._ready(number)
            self._finish()
        finally:
            self._shadows = False

    def close(self) -> None:
        """Take the hooks off the parameters."""
        for handle in self._handles:
            handle.remove()
        self.late.close()
