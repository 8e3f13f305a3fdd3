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

from .._collectives import all_gather_into_tensor, reduce_scatter_tensor
from .._replaced import replace
from .._types import ReduceOp
from ..device_mesh import DeviceMesh
from ..tensor._api import DTensor
from ..tensor._redistribute import redistributed
from ..tensor._spec import Spec
from ..tensor.placement_types import Shard
from ._layout import Layout
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
        params: Sequence[Tensor],
        mesh: DeviceMesh,
        reshard: bool | None,
    ) -> None:
        self.places, self.mesh, self.reshard = places, mesh, reshard
        self.group, self.rank = mesh.get_group(), mesh.get_local_rank()
        self.layout = Layout([param.shape for param in params], mesh.size())
        self.shards = [self._shard(param) for param in params]
        self.wholes: list[Tensor] | None = None  # while they are gathered
        self._stamp: Any = None  # what the shards were then
        self._in_forward = self._in_backward = False
        self._register(self.shards)

    def __deepcopy__(self, memo: Any) -> Any:
        raise TypeError("a module cannot be copied after fully_shard: copy it before")

    def _shard(self, param: Tensor) -> Any:
        spec = Spec.of(self.mesh, [Shard(0)], param.shape)
        local = redistributed(param.detach(), spec.whole(), spec).clone()
        made = nn.Parameter(DTensor(local, spec), param.requires_grad)
        replace(param, "fully_shard")
        return made

    def _register(self, values: Sequence[Tensor]) -> None:
        for places, value in zip(self.places, values, strict=True):
            for module, name in places:
                module._parameters[name] = value  # type: ignore[assignment]  # whole ones are plain

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
                row = self.layout.row([shard._local for shard in self.shards])
                rows = row.new_empty(self.layout.ranks, row.numel())
                if row.numel():
                    all_gather_into_tensor(rows, row, self.group)
                del row  # before the copies: it takes half as much as they do on two ranks
                self.wholes, self._stamp = self.layout.wholes(rows), stamp
        return self.wholes

    def release(self) -> None:
        """Let the whole tensors go."""
        self.wholes = None

    # ---- forward ----

    @contextlib.contextmanager
    def forward(self) -> Iterator[None]:
        """The modules hold whole tensors; what the graph saves of them holds none."""
        if self._in_forward:  # the module calls itself
            yield
            return
        if self._in_backward and not core.backward_task():
            self.leave_backward()  # one that failed
        recomputed = self._in_backward
        reshard = bool(_active.units) if self.reshard is None else self.reshard
        reshard = reshard or not taeda.is_grad_enabled()  # no backward will let them go
        wholes = self._for_graph()
        _active.units.append(self)
        self._in_forward = True
        self._register(wholes)
        try:
            with Saved(self, wholes):
                yield
        finally:
            self._in_forward = False
            _active.units.pop()
            self._register(self._leaves() if recomputed else self.shards)
            if reshard and not recomputed:
                self.release()

    def _for_graph(self) -> list[Tensor]:
        if taeda.is_grad_enabled() and any(shard.requires_grad for shard in self.shards):
            return list(_Gather.apply(self, *self.shards))
        return [whole.detach() for whole in self.gather()]

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
        if not self._in_backward:
            self._in_backward = True
            core.queue_callback(self.leave_backward)
            self.gather()
            self._register(self._leaves())

    def _leaves(self) -> list[Tensor]:
        pairs = zip(self.gather(), self.shards, strict=True)
        return [whole.detach().requires_grad_(shard.requires_grad) for whole, shard in pairs]

    def leave_backward(self) -> None:
        """The modules hold shards again."""
        if self._in_backward:
            self._in_backward = False
            self._register(self.shards)
        if not self._in_forward:
            self.release()

    def reduce(self, gradients: Sequence[Tensor | None]) -> list[Any]:
        """The shards of the mean over ranks; None for what got no gradient on any rank."""
        layout, count = self.layout, len(self.shards)
        rows = layout.rows(gradients, self.shards[0]._local, count)
        rows[:, layout.length :] = taeda.tensor([float(g is not None) for g in gradients])
        row = rows.new_empty(layout.length + count)
        reduce_scatter_tensor(row, rows, ReduceOp.AVG, self.group)
        came = (row[layout.length :] > 0).tolist()
        parts = layout.parts(row, self.rank)
        return [
            shard._like(part) if given else None
            for shard, part, given in zip(self.shards, parts, came, strict=True)
        ]


class _Gather(taeda.autograd.Function):
    """Shards to whole tensors; backward reduces gradients to those of the shards."""

    @staticmethod
    def forward(ctx: Any, unit: Unit, *shards: Any) -> Any:
        ctx.unit = unit
        ctx.set_materialize_grads(False)
        made = tuple(whole.detach() for whole in unit.gather())
        frozen = [t for t, shard in zip(made, unit.shards, strict=True) if not shard.requires_grad]
        ctx.mark_non_differentiable(*frozen)
        return made

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> Any:
        ctx.unit.leave_backward()  # first: the buffers of the reduction take their place
        with taeda.no_grad():
            return None, *ctx.unit.reduce(gradients)
