"""An optimizer whose state is shared out: each rank keeps and steps some parameters, and sends them
to the others.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any

import taeda
from taeda import Tensor
from taeda.optim import Optimizer

from .._collectives import broadcast
from .._groups.world import the_group
from .._objects import broadcast_object_list
from ..algorithms.join import Join, Joinable, JoinHook

__all__ = ["ZeroRedundancyOptimizer"]


class _Hook(JoinHook):
    """A rank without inputs still steps, so that the others get its parameters."""

    def __init__(self, zero: ZeroRedundancyOptimizer) -> None:
        self._zero = zero

    def main_hook(self) -> None:
        self._zero.step()


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An `optimizer_class` over `params` whose state lies on all ranks of the group, each parameter's on one.

    Parameters are given to ranks largest first, always to the one with least so far. A step gives
    every rank the same parameters as the plain optimizer would.

    Raises TypeError for what is no iterable of tensors, ValueError for none, several dtypes or sparse ones.

    Args:
        params: tensors, or groups of them, the same on all ranks in one order.
        optimizer_class: the class of the optimizer of each rank's share.
        process_group: the ranks; None is the default group.
        parameters_as_bucket_view: True keeps the parameters of a rank in one tensor, so that
            sending them needs no copy; False is the default.
        overlap_with_ddp: False: NotImplementedError for True.
        **defaults: arguments of `optimizer_class`.

    >>> from taeda import distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> weight = taeda.ones(2, requires_grad=True)
    >>> optimizer = ZeroRedundancyOptimizer([weight], taeda.optim.SGD, lr=0.5)
    >>> weight.sum().backward()
    >>> optimizer.step()
    >>> weight.detach()
    tensor([0.5000, 0.5000])
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        params: Iterable[Any],
        optimizer_class: type[Optimizer],
        process_group: Any = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise NotImplementedError("overlap_with_ddp is not in this release: leave it out")
        Joinable.__init__(self)
        self.process_group: Any = the_group(process_group, "ZeroRedundancyOptimizer")
        if self.process_group is None:
            raise ValueError("ZeroRedundancyOptimizer: this process is not in the process_group")
        self.rank, self.world_size = self.process_group.rank(), self.process_group.size()
        self._class, self._as_views = optimizer_class, parameters_as_bucket_view
        self._all_states: list[dict[str, Any]] = []
        self._ready = False
        Optimizer.__init__(self, _checked(params), dict(defaults))
        self._make_local()
        self._ready = True

    # ---- shares ----

    def _make_local(self) -> None:
        """Share the parameters out, and make the optimizer of this rank's."""
        self._shares = self._share_out()
        groups = [{**group, "params": share} for group, share in self._pairs(self.rank)]
        groups = [group for group in groups if group["params"]] or [{"params": [taeda.zeros(0)]}]
        self.optim = self._class(groups, **self.defaults)
        for group in self.param_groups:
            for name, value in self.optim.defaults.items():
                group.setdefault(name, value)
        self._flat = (
            [self._flatten(rank) for rank in range(self.world_size)] if self._as_views else []
        )

    def _share_out(self) -> list[list[list[Tensor]]]:
        """By rank and group of parameters: largest first, to the rank with the least."""
        shares: list[list[list[Tensor]]] = [
            [[] for _ in self.param_groups] for _ in range(self.world_size)
        ]
        sizes = [0] * self.world_size
        for number, group in enumerate(self.param_groups):
            for param in sorted(group["params"], key=lambda p: p.numel(), reverse=True):
                rank = sizes.index(min(sizes))
                shares[rank][number].append(param)
                sizes[rank] += param.numel()
        return shares

    def _pairs(self, rank: int) -> list[tuple[dict[str, Any], list[Tensor]]]:
        return list(zip(self.param_groups, self._shares[rank], strict=True))

    def _of(self, rank: int) -> list[Tensor]:
        return [param for share in self._shares[rank] for param in share]

    def _flatten(self, rank: int) -> Tensor | None:
        """One tensor for a rank's parameters, which become views of it."""
        params = self._of(rank)
        if not params:
            return None
        flat = taeda.cat([param.detach().reshape(-1) for param in params])
        for param, piece in zip(params, flat.split([p.numel() for p in params]), strict=True):
            param.data = piece.view(param.shape)
        return flat

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """On all ranks: more parameters, shared out as well. The state of those there were before is kept."""
        super().add_param_group(param_group)
        if not self._ready:
            return
        before = self.optim.state
        self._make_local()
        for param in self._of(self.rank):
            if param in before:
                self.optim.state[param] = before[param]

    # ---- steps ----

    def step(self, closure: Callable[[], Any] | None = None, **kwargs: Any) -> Any:
        """A step of this rank's share, then everybody's parameters from their ranks."""
        Join.notify_join_context(self)
        self._push_settings()
        result = (
            self.optim.step(closure=closure, **kwargs)
            if closure is not None
            else self.optim.step(**kwargs)
        )
        self._exchange()
        return result

    def _push_settings(self) -> None:
        """A schedule changes our groups; the rank's own optimizer must hear of it."""
        mine = [group for group, share in self._pairs(self.rank) if share]
        for ours, theirs in zip(mine, self.optim.param_groups, strict=False):
            theirs.update({name: value for name, value in ours.items() if name != "params"})

    def _exchange(self) -> None:
        for rank in range(self.world_size):
            params = self._of(rank)
            if not params:
                continue
            flat = (
                self._flat[rank]
                if self._as_views
                else taeda.cat([p.detach().reshape(-1) for p in params])
            )
            assert flat is not None
            broadcast(flat, group=self.process_group, group_src=rank)
            if rank != self.rank and not self._as_views:
                for param, piece in zip(
                    params, flat.split([p.numel() for p in params]), strict=True
                ):
                    param.detach().copy_(piece.view(param.shape))

    # ---- state ----

    def consolidate_state_dict(self, to: int = 0) -> None:
        """On all ranks, before `state_dict()` on the rank `to` of the group: bring everybody's
        state there.
        """
        self._push_settings()
        self._all_states = []
        for rank in range(self.world_size):
            mine = [self.optim.state_dict() if rank == self.rank else None]
            broadcast_object_list(mine, group=self.process_group, group_src=rank)
            if self.rank == to:
                self._all_states.append(copy.deepcopy(mine[0]))  # type: ignore[arg-type]  # it was filled

    def state_dict(self) -> dict[str, Any]:
        """As the plain optimizer's. RuntimeError without `consolidate_state_dict` before."""
        if not self._all_states:
            raise RuntimeError(
                f"the state lies on {self.world_size} ranks: call "
                f"consolidate_state_dict(to={self.rank}) on all of them first"
            )
        numbers = {id(param): n for n, param in enumerate(self._params())}
        state: dict[int, Any] = {}
        for rank, part in enumerate(self._all_states):
            for local, param in enumerate(self._of(rank)):
                if local in part["state"]:
                    state[numbers[id(param)]] = part["state"][local]
        groups, at = [], 0
        for group in self.param_groups:
            count = len(group["params"])
            groups.append(
                {
                    **{k: v for k, v in group.items() if k != "params"},
                    "params": list(range(at, at + count)),
                }
            )
            at += count
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """From a plain or consolidated state; each rank keeps its share."""
        params = self._params()
        mine = {id(param): local for local, param in enumerate(self._of(self.rank))}
        part = self.optim.state_dict()
        part["state"] = {
            mine[id(params[n])]: value
            for n, value in state_dict["state"].items()
            if id(params[n]) in mine
        }
        self.optim.load_state_dict(part)
        for group, loaded in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group.update({name: value for name, value in loaded.items() if name != "params"})
        self._push_settings()
        self._all_states = []

    def _params(self) -> list[Tensor]:
        return [param for group in self.param_groups for param in group["params"]]

    # ---- join ----

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """A rank that has run out of inputs goes on stepping."""
        return _Hook(self)

    @property
    def join_device(self) -> taeda.device:
        """The processor."""
        return taeda.device("cpu")

    @property
    def join_process_group(self) -> Any:
        """The group."""
        return self.process_group


def _checked(params: Any) -> list[Any]:
    """Parameters, or groups of them, of one dtype."""
    if isinstance(params, Tensor):
        raise TypeError("params is an iterable of tensors, not one tensor")
    try:
        given = list(params)
    except TypeError:
        raise TypeError(f"params is an iterable of tensors, not {type(params).__name__}") from None
    if not given:
        raise ValueError("ZeroRedundancyOptimizer needs at least one parameter")
    flat: list[Any] = []
    for one in given:
        flat += list(one["params"]) if isinstance(one, dict) else [one]
    for one in flat:
        if not isinstance(one, Tensor):
            raise TypeError(f"params has a {type(one).__name__}, which is no tensor")
        if one.layout is not taeda.strided:
            raise ValueError("ZeroRedundancyOptimizer takes dense parameters")
    if len({one.dtype for one in flat}) > 1:
        raise ValueError(
            f"all parameters have one dtype, not {sorted({str(p.dtype) for p in flat})}"
        )
    return given
