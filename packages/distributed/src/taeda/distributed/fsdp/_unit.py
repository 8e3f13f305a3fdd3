"""A unit: the parameters of one `fully_shard` call, gathered and reduced together.

At rest the modules hold shards. For a forward the unit gathers whole tensors by a Function whose
backward reduces their gradients; so the graph itself says when all of them are there, however often
a parameter was used. What the graph saves of a whole tensor is a reference without memory, and
backward gathers again where it asks for one.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api import runtime as core
from taeda._core_api.trees import tree_map
from taeda.autograd.function import once_differentiable

from .._calls import purpose
from .._collectives import all_gather_into_tensor
from ..device_mesh import DeviceMesh, device_of
from ..tensor._api import DTensor
from ._gradients import Gradients
from ._join import Join, joined, note_writes
from ._lanes import lanes_of
from ._layout import Layout
from ._parameter import Sharded
from ._policies import MixedPrecisionPolicy
from ._saved import Saved

__all__ = ["Unit"]


class _Active(threading.local):
    """The units whose forwards run on this thread, outermost first."""

    def __init__(self) -> None:
        self.units: list[Unit] = []


_active = _Active()


class Unit:
    """Parameters that are gathered and reduced together, and where the modules have them."""

    def __init__(
        self,
        places: Sequence[Sequence[tuple[nn.Module, str]]],
        params: Sequence[Sharded],
        mesh: DeviceMesh,
        reshard: bool | None,
        policy: MixedPrecisionPolicy,
        smaller: Any = None,
    ) -> None:
        #: the class of its module, until a forward of the outermost module finds the place
        self.name, self.placed = "", False
        self.places, self.mesh, self.reshard, self.policy = places, mesh, reshard, policy
        self.params, self.smaller = list(params), smaller
        last = mesh.ndim - 1
        self.group, self.rank = mesh.get_group(last), mesh.get_local_rank(last)
        self.layout = Layout([param.shape for param in params], mesh.size(last))
        self.shards = [param.shard for param in params]
        self.device, self.lanes = device_of(mesh), lanes_of(mesh)
        self.gradients = Gradients(self.layout, mesh, self.lanes)
        self.wholes: list[Tensor] | None = None  # while they are gathered
        self.after_backward = True  # let the whole tensors go then
        self.in_backward = True  # gather when a backward begins
        self.event: Any = None
        self.before_forward: list[Unit] = []
        self.before_backward: list[Unit] = []
        self.within: list[Unit] = []  # of its last outermost forward, with lanes
        self._coming: Any = None  # a gather under way: rows, work, row, stamp
        self.ready: Any = None  # with lanes: what the shards were, and an event behind their writes
        self.aliases: list[Tensor] | None = None  # shards as the outermost forward joins them
        self.join: Join | None = None  # of that forward
        self._kept: Any = None  # what lies on the smaller group: part, stamp
        self._stamp: Any = None  # what the shards were then
        self._in_forward = self._in_backward = False
        self._register(self.shards)

    @property
    def own_dtype(self) -> taeda.dtype:
        """Of the shards; `to` may change it."""
        dtype: taeda.dtype = self.shards[0].dtype if self.shards else taeda.float32
        return dtype

    @property
    def dtype(self) -> taeda.dtype:
        """Of whole parameters."""
        return self.policy.param_dtype or self.own_dtype

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("a module cannot be copied after fully_shard: copy it before")

    def _register(self, values: Sequence[Tensor]) -> None:
        self._at_rest = values is self.shards
        for places, value in zip(self.places, values, strict=True):
            for module, name in places:
                module._parameters[name] = value  # type: ignore[assignment]  # whole ones are plain

    def adopt(self) -> None:
        """Take the shards that modules have now, such as after `to_empty`, or a state dict that was assigned.

        RuntimeError for one that lies otherwise than the shard before it.
        """
        if not self._at_rest:
            return
        changed = False
        for number, places in enumerate(self.places):
            for module, name in places:
                found: Any = module._parameters[name]
                if found is self.shards[number]:
                    continue
                if not isinstance(found, DTensor) or found._spec is not self.params[number].spec:
                    raise RuntimeError(
                        f"{self.params[number].name} of a unit of fully_shard was replaced by a "
                        f"{type(found).__name__} of shape {tuple(found.shape)}: only a DTensor that lies as "
                        f"{self.params[number].spec} can take its place. "
                        "set_model_state_dict makes such ones of whole tensors"
                    )
                self.shards[number], changed = found, True
                break
        if changed:
            self.ready = self.aliases = self.join = None
            self._register(self.shards)
            self.release()

    # ---- whole tensors ----

    def stamp(self) -> Any:
        """It changes when a shard is written."""
        return tuple((id(shard._local), shard._local._version) for shard in self.shards)

    def gather(self) -> list[Tensor]:
        """The whole tensors; one collective, if they are not there."""
        if not self.shards:
            return []
        stamp = self.stamp()
        if self.wholes is None or self._stamp != stamp:
            with taeda.no_grad():
                buffers = self._rows(stamp)
                made = self.layout.wholes(buffers[0])
                if self.lanes is not None:
                    self.lanes.copied(buffers)
                pairs = zip(self.params, made, strict=True)
                self.wholes, self._stamp = [param.back(whole) for param, whole in pairs], stamp
        return self.wholes

    def _rows(self, stamp: Any) -> tuple[Tensor, ...]:
        """The rows of all ranks, and what else a gather under way had."""
        coming, self._coming = self._coming, None
        if coming is not None:
            rows, work, row, begun = coming
            work.wait()
            if begun == stamp:
                return rows, row
        if self._kept is not None and self._kept[1] == stamp:
            return (self._from_smaller(),)
        if self.event is not None:
            self.event.wait()
            self.event = None
        with purpose(f"gathers unit {self.name}"):
            if self.lanes is None:
                return self._gathered(False)[:1]
            rows, row, _ = self._gathered_aside(stamp)
        self.lanes.gathered().wait()
        return rows, row

    def _gathered(self, async_op: bool) -> tuple[Tensor, Tensor, Any]:
        """The collective: all rows, this rank's, the work."""
        row = self._row()
        rows, work = row.new_empty(self.layout.ranks, row.numel()), None
        if row.numel():
            work = all_gather_into_tensor(rows, row, self.group, async_op=async_op)
        return rows, row, work

    def _gathered_aside(self, stamp: Any) -> tuple[Tensor, Tensor, Any]:
        """The same on the stream of gathers, as soon as the shards are written."""
        assert self.lanes is not None
        inside = _active.units or core.backward_task()  # where a forward has looked at the shards
        if not inside or self.ready is None or self.ready[0] != stamp:
            self.ready = stamp, self.lanes.mark()
        with self.lanes.gathering(self.ready[1]):
            return self._gathered(False)

    def _row(self) -> Tensor:
        if any(shard.is_meta for shard in self.shards):
            raise RuntimeError(
                f"the parameters of unit {self.name} are on meta: call "
                f"to_empty(device={self.mesh.device_type!r}) on the model, and give them values"
            )
        parts = zip(self.params, self.shards, strict=True)
        made = self.layout.row([param.rows(shard._local) for param, shard in parts], self.device)
        return made.to(self.dtype)

    def begin_gather(self) -> None:
        """Start the collective, if the whole tensors are not there or on their way."""
        if not self.shards or self.wholes is not None or self._coming is not None:
            return
        with taeda.no_grad(), purpose(f"gathers unit {self.name} ahead"):
            stamp = self.stamp()
            if self.lanes is None:
                rows, row, work = self._gathered(True)
            else:
                rows, row, _ = self._gathered_aside(stamp)
                self.lanes.lend([shard._local for shard in self.shards])
                work = self.lanes.gathered()
            if row.numel():
                self._coming = rows, work, row, stamp

    def release(self) -> None:
        """Let the whole tensors go."""
        self.wholes = None

    def shrink(self) -> None:
        """After a forward: keep of the whole tensors what a rank of the smaller group has."""
        if self.smaller is None or self.wholes is None:
            self.release()
            return
        with taeda.no_grad():
            rows = self.layout.rows(
                [p.rows(w) for p, w in zip(self.params, self.wholes, strict=True)],
                self.wholes[0],
                0,
            )
            count, place = self.smaller.size(), self.smaller.rank()
            flat = rows.view(-1)
            each = -(-flat.numel() // count)
            part = flat.new_zeros(each)
            mine = flat[place * each : (place + 1) * each]
            part[: mine.numel()] = mine
            self._kept = part, self._stamp
        self.release()

    def _from_smaller(self) -> Tensor:
        part = self._kept[0]
        whole = part.new_empty(part.numel() * self.smaller.size())
        if part.numel():
            with purpose(f"gathers unit {self.name} in the smaller group"):
                all_gather_into_tensor(whole, part, self.smaller)
        length = self.layout.ranks * self.layout.length
        return whole[:length].view(self.layout.ranks, self.layout.length)

    @property
    def busy(self) -> bool:
        """Does a forward or backward run?"""
        return self._in_forward or self._in_backward

    def show(self) -> None:
        """Whole tensors into the modules, until `hide`."""
        self._register(self._leaves())

    def hide(self) -> None:
        """Shards into the modules, and whole tensors go."""
        if not self._in_forward:
            self._in_backward = False
            self._kept = None
            self._register(self.shards)
            self.release()

    # ---- forward ----

    @contextlib.contextmanager
    def forward(self, within: Sequence[Unit] = ()) -> Iterator[None]:
        """The modules hold whole tensors; what the graph saves of them holds none.

        `within` are this unit and those of the modules below, which matter to an outermost forward.
        """
        around: Any = contextlib.nullcontext()
        if self.lanes is not None and not _active.units and not core.backward_task():
            self.within = list(within) or [self]
            around = joined(self.within, self.lanes)
        with around, self._forward():
            yield

    @contextlib.contextmanager
    def _forward(self) -> Iterator[None]:
        if self._in_forward:  # the module calls itself
            yield
            return
        if self._in_backward and not core.backward_task():
            self.leave_backward()  # one that failed
        self.adopt()
        recomputed = self._in_backward
        reshard = bool(_active.units) if self.reshard is None else self.reshard
        reshard = reshard or not taeda.is_grad_enabled()  # no backward will let them go
        wholes = self._for_graph()
        for unit in self.before_forward if not recomputed else ():
            unit.begin_gather()
        _active.units.append(self)
        self._in_forward = True
        self._register(wholes)
        caches = taeda.is_autocast_cache_enabled()
        taeda.set_autocast_cache_enabled(False)  # it would hold casts of whole tensors
        try:
            with Saved(self, self.gather()):
                yield
        finally:
            taeda.set_autocast_cache_enabled(caches)
            self._in_forward = False
            _active.units.pop()
            self._register(self._leaves() if recomputed else self.shards)
            if reshard and not recomputed:
                self.shrink() if taeda.is_grad_enabled() else self.release()

    def inputs(self, value: Any) -> Any:
        """Inputs of a forward in the dtype that it computes in; those of an outermost one on the device."""
        wanted = self.policy.param_dtype
        if self.lanes is not None and not _active.units:
            value = tree_map(self._brought, value)
        if wanted is None or not self.policy.cast_forward_inputs:
            return value
        return tree_map(lambda one: _cast(one, wanted), value)

    def _brought(self, value: Any) -> Any:
        plain = isinstance(value, Tensor) and not isinstance(value, DTensor)
        return value.to(self.device) if plain and value.device.type == "cpu" else value

    def outputs(self, value: Any) -> Any:
        """Outputs of a forward in the dtype that is wanted."""
        wanted = self.policy.output_dtype
        return value if wanted is None else tree_map(lambda one: _cast(one, wanted), value)

    def _for_graph(self) -> list[Tensor]:
        if taeda.is_grad_enabled() and any(shard.requires_grad for shard in self.shards):
            return list(_Gather.apply(self, self.join, *(self.aliases or self.shards)))
        pairs = zip(self.params, self.gather(), strict=True)
        return [param.dressed(whole.detach()) for param, whole in pairs]

    def watch(self, outputs: Any) -> Any:
        """Have the backward of these outputs begin with whole tensors in the modules."""

        def watched(value: Any) -> Any:
            if isinstance(value, Tensor) and value.requires_grad:
                value.register_hook(self._begin)
            return value

        return tree_map(watched, outputs) if taeda.is_grad_enabled() else outputs

    # ---- backward ----

    def _begin(self, gradient: Tensor) -> None:
        self.enter_backward()

    def enter_backward(self) -> None:
        """Whole tensors are in the modules, for what is computed again, until gradients are reduced."""
        if self._in_backward:
            return
        self._in_backward = True
        core.queue_callback(self.leave_backward)
        if self.lanes is not None and self.within:
            note_writes(self.within, self.lanes)
        if self.in_backward:
            self._register(self._leaves())
        for unit in self.before_backward:
            unit.begin_gather()

    def _leaves(self) -> list[Tensor]:
        made = []
        for param, whole, shard in zip(self.params, self.gather(), self.shards, strict=True):
            made.append(param.dressed(whole.detach()).requires_grad_(shard.requires_grad))
        return made

    def leave_backward(self) -> None:
        """The modules hold shards again."""
        if self._in_backward:
            self._in_backward = False
            self._register(self.shards)
        if not self._in_forward:
            self._kept = None
            if self.after_backward:
                self.release()

    def reduce(self, gradients: Sequence[Tensor | None], join: Join | None = None) -> list[Any]:
        """The shards of the mean over ranks; None for what got no gradient on any rank. With a join the
        lanes may still be at it.
        """
        plain = [p.plain(g) for p, g in zip(self.params, gradients, strict=True)]
        within = self.policy.reduce_dtype or self.dtype
        trained = [shard.requires_grad for shard in self.shards]
        with purpose(f"reduces the gradients of unit {self.name}"):
            made = self.gradients.reduce(plain, self.own_dtype, within, trained)
        if self.lanes is not None:
            self._wait_or_defer(join)
        if made is None:
            return [None] * len(self.shards)
        rows = zip(self.params, self.shards, *made, strict=True)
        return [
            shard._like(param.back(part).to(shard.device)) if given else None
            for param, shard, part, given in rows
        ]

    def _wait_or_defer(self, join: Join | None) -> None:
        """Gradients that something is done with before the join are waited for here."""
        lanes: Any = self.lanes
        looked_at = taeda.is_anomaly_enabled() or any(param.dim for param in self.params)
        here = all(shard.is_cuda for shard in self.shards)
        if join is None or looked_at or not here or not join.takes(self):
            lanes.settle()
        else:
            core.queue_callback(lanes.settle)  # where nobody asks for the shards' gradients


def _cast(value: Any, dtype: taeda.dtype) -> Any:
    if isinstance(value, Tensor) and value.is_floating_point() and value.dtype != dtype:
        return value.to(dtype)
    return value


class _Gather(taeda.autograd.Function):
    """Shards to whole tensors; backward reduces gradients to those of the shards."""

    @staticmethod
    def forward(ctx: Any, unit: Unit, join: Join | None, *shards: Any) -> Any:
        ctx.unit, ctx.join = unit, join
        ctx.set_materialize_grads(False)
        pairs = zip(unit.params, unit.gather(), strict=True)
        made = tuple(param.dressed(whole.detach()) for param, whole in pairs)
        frozen = [t for t, shard in zip(made, unit.shards, strict=True) if not shard.requires_grad]
        ctx.mark_non_differentiable(*frozen)
        return made

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> Any:
        ctx.unit.leave_backward()  # first: the buffers of the reduction take their place
        with taeda.no_grad():
            return None, None, *ctx.unit.reduce(gradients, ctx.join)
