"""Local steps, and averages of the model now and then."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from taeda._core_api import warn
from taeda.optim import Optimizer

from ..algorithms.model_averaging.averagers import ModelAverager

__all__ = ["PostLocalSGDOptimizer"]


class PostLocalSGDOptimizer(Optimizer):
    """Steps `optim`, then lets `averager` average the parameters if it is time.
    Its state has the averager's count.

    Args:
        optim: the optimizer that steps on this rank alone.
        averager: averages parameters over ranks when it is time, such as a PeriodicModelAverager.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.algorithms.model_averaging import averagers
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> weight = taeda.ones(2, requires_grad=True)
    >>> averager = averagers.PeriodicModelAverager(period=4)
    >>> optimizer = PostLocalSGDOptimizer(taeda.optim.SGD([weight], lr=0.5), averager)
    >>> weight.sum().backward()
    >>> optimizer.step()
    >>> weight.detach(), averager.step
    (tensor([0.5000, 0.5000]), 1)
    >>> dist.destroy_process_group()
    """

    def __init__(self, optim: Optimizer, averager: ModelAverager) -> None:
        self.optim, self.averager = optim, averager
        self.param_groups = optim.param_groups
        self._optimizer_step_pre_hooks: OrderedDict[int, Any] = OrderedDict()
        self._optimizer_step_post_hooks: OrderedDict[int, Any] = OrderedDict()

    @property
    def state(self) -> Any:  # type: ignore[override]  # it is the wrapped one's
        """The state of the wrapped optimizer."""
        return self.optim.state

    def __repr__(self) -> str:
        return repr(self.optim)

    def state_dict(self) -> dict[str, Any]:
        """That of the wrapped optimizer, with `step`."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The count starts at 0, with a warning, if the state has none."""
        self.optim.load_state_dict(
            {name: value for name, value in state_dict.items() if name != "step"}
        )
        self.param_groups = self.optim.param_groups
        if "step" not in state_dict:
            warn("the state has no step of an averager: averaging counts from 0")
        self.averager.step = state_dict.get("step", 0)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """A step, and perhaps an average."""
        result = self.optim.step(closure)
        self.averager.average_parameters(self.param_groups)
        return result

    def zero_grad(self, set_to_none: bool = True) -> None:
        """That of the wrapped optimizer."""
        self.optim.zero_grad(set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """To the wrapped optimizer."""
        self.optim.add_param_group(param_group)
