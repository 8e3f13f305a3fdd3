"""Inputs and outputs of a module as DTensors in a wanted way; its parameters stay as they are."""

from __future__ import annotations

from typing import Any

from taeda import nn

from ...device_mesh import DeviceMesh
from .._api import DTensor
from ..placement_types import Placement
from ._styles import ParallelStyle, around, lifted

__all__ = ["PrepareModuleInput", "PrepareModuleInputOutput", "PrepareModuleOutput"]


def _tuple(value: Any) -> Any:
    return (value,) if isinstance(value, Placement) else value


class PrepareModuleInput(ParallelStyle):
    """Make the inputs of a module's forward DTensors that lie as it wants them.

    AssertionError where layouts and desired layouts do not have one length.

    Args:
        input_layouts: how each plain input lies, one placement or a tuple; None in it leaves an
            input as it is.
        desired_input_layouts: how each of them shall lie, as many (default: None).
        input_kwarg_layouts: the same of inputs given by name; None (the default) for no such input.
        desired_input_kwarg_layouts: how those shall lie (default: None).
        use_local_output: True gives the module this rank's parts; False, the default, DTensors.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.tensor import Replicate, Shard
    >>> from taeda.distributed.tensor.parallel import PrepareModuleInput, parallelize_module
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> style = PrepareModuleInput(input_layouts=Shard(0), desired_input_layouts=Replicate())
    >>> model = parallelize_module(nn.Identity(), mesh, style)
    >>> model(taeda.ones(4, 2)).placements  # a part came, and the module got the whole
    (Replicate(),)
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        *,
        input_layouts: Any = None,
        desired_input_layouts: Any = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None,
        use_local_output: bool = False,
    ) -> None:
        self.input_layouts, self.desired_input_layouts = (
            _tuple(input_layouts),
            _tuple(desired_input_layouts),
        )
        self.input_kwarg_layouts = dict(input_kwarg_layouts or {})
        self.desired_input_kwarg_layouts = dict(desired_input_kwarg_layouts or {})
        self.use_local_output = use_local_output
        if self.input_layouts is not None:
            assert self.desired_input_layouts is not None, "give desired_input_layouts as well"
            assert len(self.input_layouts) == len(self.desired_input_layouts), (
                f"{len(self.input_layouts)} input_layouts and {len(self.desired_input_layouts)} "
                "desired_input_layouts: one for each"
            )
        assert set(self.input_kwarg_layouts) == set(self.desired_input_kwarg_layouts), (
            "input_kwarg_layouts and desired_input_kwarg_layouts have different names"
        )

    def _change(self, value: Any, mesh: DeviceMesh, layout: Any, wanted: Any) -> Any:
        made = lifted(value, mesh, layout, wanted)
        return made.to_local() if self.use_local_output and isinstance(made, DTensor) else made

    def _before(
        self, mesh: DeviceMesh, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, Any]:
        if self.input_layouts is not None:
            if len(args) != len(self.input_layouts):
                raise ValueError(
                    f"PrepareModuleInput: {len(self.input_layouts)} input_layouts for {len(args)} inputs"
                )
            rows = zip(args, self.input_layouts, self.desired_input_layouts, strict=True)
            args = tuple(self._change(value, mesh, a, b) for value, a, b in rows)
        named = dict(kwargs)
        for name, layout in self.input_kwarg_layouts.items():
            if name in named:
                wanted = self.desired_input_kwarg_layouts[name]
                named[name] = self._change(named[name], mesh, layout, wanted)
        return args, named

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        around(module, lambda args, kwargs: self._before(device_mesh, args, kwargs), None)
        return module


class PrepareModuleOutput(ParallelStyle):
    """Make the outputs of a module's forward lie in a wanted way.

    AssertionError where layouts and desired layouts do not have one length.

    Args:
        output_layouts: how each plain output lies, one placement or a tuple; None in it leaves an
            output as it is.
        desired_output_layouts: how each of them shall lie, as many.
        use_local_output: True, the default, gives this rank's parts; False DTensors.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.tensor import Replicate, Shard
    >>> from taeda.distributed.tensor.parallel import PrepareModuleOutput, parallelize_module
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> style = PrepareModuleOutput(
    ...     output_layouts=Replicate(), desired_output_layouts=Shard(0), use_local_output=False
    ... )
    >>> parallelize_module(nn.Identity(), mesh, style)(taeda.ones(4, 2)).placements
    (Shard(dim=0),)
    >>> dist.destroy_process_group()
    """

    def __init__(
        self, *, output_layouts: Any, desired_output_layouts: Any, use_local_output: bool = True
    ) -> None:
        self.output_layouts = _tuple(output_layouts)
        self.desired_output_layouts = _tuple(desired_output_layouts)
        self.use_local_output = use_local_output
        assert len(self.output_layouts) == len(self.desired_output_layouts), (
            f"{len(self.output_layouts)} output_layouts and {len(self.desired_output_layouts)} "
            "desired_output_layouts: one for each"
        )

    def _after(self, mesh: DeviceMesh, outputs: Any) -> Any:
        listed = isinstance(outputs, (list, tuple))
        values = list(outputs) if listed else [outputs]
        if len(values) != len(self.output_layouts):
            raise ValueError(
                f"PrepareModuleOutput: {len(self.output_layouts)} output_layouts for {len(values)} outputs"
            )
        made = []
        for value, layout, wanted in zip(
            values, self.output_layouts, self.desired_output_layouts, strict=True
        ):
            one = lifted(value, mesh, layout, wanted)
            made.append(
                one.to_local() if self.use_local_output and isinstance(one, DTensor) else one
            )
        return tuple(made) if listed else made[0]

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        around(module, None, lambda outputs: self._after(device_mesh, outputs))
        return module


class PrepareModuleInputOutput(ParallelStyle):
    """Both: the arguments of `PrepareModuleInput`, with `use_local_input`, and of `PrepareModuleOutput`.

    Args:
        input_layouts: how each plain input lies; None in it leaves an input as it is.
        desired_input_layouts: how each of them shall lie (default: None).
        input_kwarg_layouts: the same of inputs given by name; None (the default) for no such input.
        desired_input_kwarg_layouts: how those shall lie (default: None).
        use_local_input: True gives the module this rank's parts; False, the default, DTensors.
        output_layouts: how each plain output lies.
        desired_output_layouts: how each of them shall lie.
        use_local_output: True, the default, gives this rank's parts of outputs; False DTensors.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.tensor import Replicate, Shard
    >>> from taeda.distributed.tensor.parallel import PrepareModuleInputOutput, parallelize_module
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> style = PrepareModuleInputOutput(
    ...     input_layouts=Shard(0),
    ...     desired_input_layouts=Replicate(),
    ...     output_layouts=Replicate(),
    ...     desired_output_layouts=Shard(0),
    ... )
    >>> model = parallelize_module(nn.Identity(), mesh, style)
    >>> model(taeda.ones(4, 2)).shape  # this rank's part in, and out again
    taeda.Size([4, 2])
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        *,
        input_layouts: Any = None,
        desired_input_layouts: Any = None,
        input_kwarg_layouts: dict[str, Placement] | None = None,
        desired_input_kwarg_layouts: dict[str, Placement] | None = None,
        use_local_input: bool = False,
        output_layouts: Any,
        desired_output_layouts: Any,
        use_local_output: bool = True,
    ) -> None:
        self.prepare_module_input = PrepareModuleInput(
            input_layouts=input_layouts,
            desired_input_layouts=desired_input_layouts,
            input_kwarg_layouts=input_kwarg_layouts,
            desired_input_kwarg_layouts=desired_input_kwarg_layouts,
            use_local_output=use_local_input,
        )
        self.prepare_module_output = PrepareModuleOutput(
            output_layouts=output_layouts,
            desired_output_layouts=desired_output_layouts,
            use_local_output=use_local_output,
        )

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        self.prepare_module_input._apply(module, device_mesh)
        return self.prepare_module_output._apply(module, device_mesh)
