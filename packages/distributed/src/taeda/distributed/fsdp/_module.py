"""What a module's class becomes besides its own by `fully_shard`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from taeda import Tensor, nn

from ._unit import Unit

__all__ = ["FSDPModule", "UnshardHandle", "register_fsdp_forward_method"]


class UnshardHandle:
    """A gather under way.

    Args:
        unit: whose gather was begun; None for one that is over.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.fsdp import fully_shard
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = fully_shard(nn.Linear(2, 3))
    >>> handle = model.unshard(async_op=True)
    >>> handle.wait()  # after other work
    >>> type(model.weight).__name__  # the whole one, where a DTensor was
    'Tensor'
    >>> dist.destroy_process_group()
    """

    def __init__(self, unit: Unit | None) -> None:
        self._unit = unit

    def wait(self) -> None:
        """Return when the whole parameters are in the modules."""
        if self._unit is not None:
            self._unit.show()
            self._unit = None


class FSDPModule:
    """The class of a module after `fully_shard`, beside its own: what to set between its passes.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.fsdp import FSDPModule, fully_shard
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = fully_shard(nn.Linear(2, 3))
    >>> isinstance(model, FSDPModule), isinstance(model, nn.Linear)
    (True, True)
    >>> model.set_requires_gradient_sync(False)  # add up over several backwards, on this rank
    >>> dist.destroy_process_group()
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The module's forward, with whole parameters."""
        unit = self._unit()
        if not unit.placed:
            self._name_units()
        args, kwargs = unit.inputs(args), unit.inputs(kwargs)
        with unit.forward([*self._units(True)] if unit.lanes is not None else ()):
            outputs = super().__call__(*args, **kwargs)  # type: ignore[misc]  # a Module comes next
        return unit.watch(unit.outputs(outputs))

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
        made = super()._apply(fn, recurse)  # type: ignore[misc]  # a Module comes next
        self._unit().adopt()
        return made

    def _unit(self) -> Unit:
        unit: Unit = self.__dict__["_fsdp_unit"]
        return unit

    def _name_units(self) -> None:
        """Units are called by the place of their module; the outermost comes first, and keeps the
        name of its class.
        """
        for place, part in self.named_modules():  # type: ignore[attr-defined]  # a Module comes next
            if isinstance(part, FSDPModule):
                unit = part._unit()
                unit.placed = True
                unit.name = place or unit.name

    def _units(self, recurse: bool) -> Iterator[Unit]:
        """Mine, and those of the modules below."""
        if not recurse:
            yield self._unit()
            return
        seen: set[int] = set()
        for part in self.modules():  # type: ignore[attr-defined]  # a Module comes next
            if isinstance(part, FSDPModule) and id(part._unit()) not in seen:
                seen.add(id(part._unit()))
                yield part._unit()

    def unshard(self, async_op: bool = False) -> UnshardHandle | None:
        """Gather this module's own parameters and put them into it, until `reshard` or the end of a
        backward. All ranks call it. With `async_op` the handle waits; a forward waits too.
        """
        unit = self._unit()
        if async_op:
            unit.begin_gather()
            return UnshardHandle(unit)
        unit.show()
        return None

    def reshard(self) -> None:
        """Put shards into the module, and let its whole parameters go."""
        self._unit().hide()

    def set_requires_gradient_sync(
        self, requires_gradient_sync: bool, *, recurse: bool = True
    ) -> None:
        """Reduce gradients in the backwards to come? Without, each rank adds whole ones up, in the
        dtype of the reduction, and the first backward that reduces takes them along.
        """
        for unit in self._units(recurse):
            unit.gradients.sync = bool(requires_gradient_sync)

    def set_requires_all_reduce(self, requires_all_reduce: bool, *, recurse: bool = True) -> None:
        """Add up over replicas in the backwards to come? For meshes of two dimensions: without, the sums
        of each line of shards wait for the first backward that does.
        """
        for unit in self._units(recurse):
            unit.gradients.all_reduces = bool(requires_all_reduce)

    def set_reshard_after_forward(self, reshard_after_forward: bool, recurse: bool = True) -> None:
        """Let whole parameters go after the forwards to come?"""
        for unit in self._units(recurse):
            unit.reshard = bool(reshard_after_forward)

    def set_reshard_after_backward(
        self, reshard_after_backward: bool, *, recurse: bool = True
    ) -> None:
        """Let whole parameters go after the backwards to come? Kept, they save the next gather."""
        for unit in self._units(recurse):
            unit.after_backward = bool(reshard_after_backward)

    def set_unshard_in_backward(self, unshard_in_backward: bool) -> None:
        """Gather when a backward begins? Without, only if the graph asks for a parameter."""
        self._unit().in_backward = bool(unshard_in_backward)

    def set_is_last_backward(self, is_last_backward: bool) -> None:
        """Is the next backward the last before a step? Reductions are over when their backward is, so
        this changes nothing but is taken from programs that say it.
        """
        if not isinstance(is_last_backward, bool):
            raise TypeError(f"is_last_backward is True or False, not {is_last_backward!r}")

    def set_modules_to_forward_prefetch(self, modules: Sequence[Any]) -> None:
        """Start the gathers of these modules when this one's forward begins. ValueError for others."""
        self._unit().before_forward = _units_of(modules)

    def set_modules_to_backward_prefetch(self, modules: Sequence[Any]) -> None:
        """Start the gathers of these modules when this one's backward begins. ValueError for others."""
        self._unit().before_backward = _units_of(modules)

    def set_reduce_scatter_divide_factor(self, factor: float) -> None:
        """Divide the sum of gradients by `factor` instead of the number of ranks."""
        if not factor > 0:
            raise ValueError(f"factor is more than 0, not {factor}")
        self._unit().gradients.factor = float(factor)

    set_gradient_divide_factor = set_reduce_scatter_divide_factor

    def set_all_reduce_hook(self, hook: Callable[[Tensor], None], *, stream: Any = None) -> None:
        """Call `hook(row)` with the flat reduced gradients of this rank, which it may change in place.
        On a device it is called on the stream of the reduction, or on `stream`, which then waits for
        that one and it for this.
        """
        gradients = self._unit().gradients
        gradients.hook, gradients.hook_stream = hook, stream

    def set_post_optim_event(self, event: Any) -> None:
        """Wait for `event` before the next gather, once."""
        self._unit().event = event


def _units_of(modules: Sequence[Any]) -> list[Unit]:
    for module in modules:
        if not isinstance(module, FSDPModule):
            raise ValueError(
                "a module to gather ahead is one that fully_shard was called for, not "
                f"{type(module).__name__}"
            )
    return [module._unit() for module in modules]


def register_fsdp_forward_method(module: nn.Module, method_name: str) -> None:
    """Let a method gather the module's parameters as its forward does. For other modules nothing.

    AttributeError if there is no such method.

    Args:
        module: a module for which `fully_shard` was called; nothing happens to others.
        method_name: the name of its method.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.fsdp import fully_shard, register_fsdp_forward_method
    >>> class Model(nn.Linear):
    ...     def generate(self, x):
    ...         return self(self(x))
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = fully_shard(Model(2, 2))
    >>> register_fsdp_forward_method(model, "generate")
    >>> model.generate(taeda.ones(4, 2)).shape
    taeda.Size([4, 2])
    >>> dist.destroy_process_group()
    """
    if not isinstance(module, FSDPModule):
        return
    original = getattr(module, method_name)

    @functools.wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        unit = module._unit()
        args, kwargs = unit.inputs(args), unit.inputs(kwargs)
        with unit.forward([*module._units(True)] if unit.lanes is not None else ()):
            outputs = original(*args, **kwargs)
        return unit.watch(unit.outputs(outputs))

    module.__dict__[method_name] = method
