"""How one layer is cut: its columns, its rows, or the sequence that it works on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

from taeda import Tensor, nn

from ...device_mesh import DeviceMesh
from .._api import DTensor, distribute_tensor
from .._module import put_parameter
from ..placement_types import Placement, Replicate, Shard

__all__ = ["ColwiseParallel", "ParallelStyle", "RowwiseParallel", "SequenceParallel"]


class ParallelStyle(ABC):
    """How a module is cut. Own styles define `_apply(module, device_mesh)`, which returns the module.

    >>> from taeda.distributed.tensor.parallel import ParallelStyle
    >>> class Frozen(ParallelStyle):  # not trained
    ...     def _apply(self, module, device_mesh):
    ...         return module.requires_grad_(False)
    >>> Frozen().src_data_rank
    0
    """

    src_data_rank: int | None = 0

    @abstractmethod
    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        """Cut the module in place."""

    def _put(self, module: nn.Module, mesh: DeviceMesh, placements: dict[str, Placement]) -> None:
        """Cut parameters by their names; the others, and buffers, are whole on every rank."""
        for name, param in list(module._parameters.items()):
            if param is None:
                continue
            place = placements.get(name, Replicate())
            if isinstance(param, DTensor):
                raise ValueError(
                    f"{type(self).__name__}: {name} of {type(module).__name__} is a DTensor already"
                )
            made = distribute_tensor(param, mesh, [place], src_data_rank=self.src_data_rank)
            put_parameter(module, name, made, "parallelize_module")


def _placement(value: Any, what: str) -> Placement:
    if not isinstance(value, Placement):
        raise TypeError(f"{what} is a placement such as Shard(0), not {value!r}")
    return value


def lifted(value: Any, mesh: DeviceMesh, layout: Placement | None, wanted: Placement | None) -> Any:
    """A tensor as a DTensor that lies in a wanted way; a plain one is a part in `layout`."""
    if not isinstance(value, Tensor) or layout is None:
        return value
    made: Any = value
    if not isinstance(value, DTensor):
        made = DTensor.from_local(value, mesh, [layout])
    if wanted is not None and made.placements != (_fits(wanted, made),):
        made = made.redistribute(placements=[wanted])
    return made


def _fits(place: Placement, value: DTensor) -> Placement:
    return Shard(place.dim % max(value.ndim, 1)) if isinstance(place, Shard) else place


def around(
    module: nn.Module,
    before: Callable[[tuple[Any, ...], dict[str, Any]], tuple[Any, Any]] | None,
    after: Callable[[Any], Any] | None,
) -> None:
    """Change inputs and outputs of a module's forward."""
    if before is not None:

        def pre(part: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            return before(args, kwargs)

        module.register_forward_pre_hook(pre, with_kwargs=True)
    if after is not None:
        module.register_forward_hook(lambda part, args, outputs: after(outputs))


class _Layer(ParallelStyle):
    """A style of a Linear or an Embedding."""

    #: the placements of parameters, by kind of module
    places: ClassVar[dict[type[nn.Module], dict[str, Placement]]]

    def __init__(
        self,
        input_layouts: Placement,
        output_layouts: Placement,
        use_local_output: bool,
    ) -> None:
        name = type(self).__name__
        self.input_layouts = (_placement(input_layouts, f"{name}: input_layouts"),)
        self.output_layouts = (_placement(output_layouts, f"{name}: output_layouts"),)
        self.use_local_output = use_local_output

    def wanted(self, module: nn.Module) -> Placement:
        """How the input must lie."""
        raise NotImplementedError

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        kind = next((kind for kind in self.places if isinstance(module, kind)), None)
        if kind is None:
            raise NotImplementedError(
                f"{type(self).__name__} is for Linear and Embedding, not {type(module).__name__}"
            )
        if isinstance(module, nn.Embedding) and (module.max_norm is not None or module.sparse):
            raise NotImplementedError(
                f"{type(self).__name__}: an Embedding with max_norm or sparse=True is not cut"
            )
        self._put(module, device_mesh, self.places[kind])
        wanted = self.wanted(module)

        def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
            first = lifted(args[0], device_mesh, self.input_layouts[0], wanted)
            return (first, *args[1:]), kwargs

        def after(outputs: Any) -> Any:
            made = lifted(outputs, device_mesh, self.output_layouts[0], self.output_layouts[0])
            return made.to_local() if self.use_local_output else made

        around(module, before, after)
        return module


class ColwiseParallel(_Layer):
    """Cut a Linear by its outputs, or an Embedding by its columns.

    TypeError for what is no placement.

    Args:
        input_layouts: how a plain input lies; None is whole on every rank.
        output_layouts: how the output is to lie; None is cut along its last dimension.
        use_local_output: True, the default, gives this rank's part; False a DTensor.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.tensor.parallel import ColwiseParallel, parallelize_module
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> layer = parallelize_module(nn.Linear(2, 4), mesh, ColwiseParallel())
    >>> layer.weight.placements, layer(taeda.ones(3, 2)).shape
    ((Shard(dim=0),), taeda.Size([3, 4]))
    >>> dist.destroy_process_group()
    """

    places: ClassVar[dict[type[nn.Module], dict[str, Placement]]] = {
        nn.Linear: {"weight": Shard(0), "bias": Shard(0)},
        nn.Embedding: {"weight": Shard(1)},
    }

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(
            Replicate() if input_layouts is None else input_layouts,
            Shard(-1) if output_layouts is None else output_layouts,
            use_local_output,
        )

    def wanted(self, module: nn.Module) -> Placement:
        """Whole."""
        return Replicate()


class RowwiseParallel(_Layer):
    """Cut a Linear by its inputs, or an Embedding by its rows.

    TypeError for what is no placement.

    Args:
        input_layouts: how a plain input lies; None is cut along its last dimension, of indices as
            well: give Replicate() for those that every rank has.
        output_layouts: how the output is to lie, which begins as terms of a sum; None is whole on
            every rank.
        use_local_output: True, the default, gives this rank's part; False a DTensor.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel
    >>> from taeda.distributed.tensor.parallel import parallelize_module
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> plan = {"0": ColwiseParallel(), "2": RowwiseParallel()}  # one sum over ranks for both
    >>> model = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
    >>> model = parallelize_module(model, mesh, plan)
    >>> model[2].weight.placements, model(taeda.ones(3, 2)).shape
    ((Shard(dim=1),), taeda.Size([3, 2]))
    >>> dist.destroy_process_group()
    """

    places: ClassVar[dict[type[nn.Module], dict[str, Placement]]] = {
        nn.Linear: {"weight": Shard(1)},
        nn.Embedding: {"weight": Shard(0)},
    }

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(
            Shard(-1) if input_layouts is None else input_layouts,
            Replicate() if output_layouts is None else output_layouts,
            use_local_output,
        )

    def wanted(self, module: nn.Module) -> Placement:
        """Cut along the inputs; indices whole."""
        return Shard(-1) if isinstance(module, nn.Linear) else Replicate()


class SequenceParallel(ParallelStyle):
    """Let a norm or a dropout work on its part of the sequence; parameters are whole on every rank.

    A plain input is this rank's part. The ranks' parameters become those of the mesh's first.

    Args:
        sequence_dim: the dimension of the sequence in a plain input: 1 by default.
        use_local_output: False, the default, gives a DTensor; True this rank's part.

    >>> from taeda import distributed as dist, nn
    >>> from taeda.distributed.tensor.parallel import SequenceParallel, parallelize_module
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> norm = parallelize_module(nn.LayerNorm(8), mesh, SequenceParallel())
    >>> norm(taeda.ones(2, 5, 8)).placements  # the batch, the sequence, the features
    (Shard(dim=1),)
    >>> dist.destroy_process_group()
    """

    def __init__(self, *, sequence_dim: int = 1, use_local_output: bool = False) -> None:
        if isinstance(sequence_dim, bool) or not isinstance(sequence_dim, int):
            raise TypeError(f"sequence_dim is the number of a dimension, not {sequence_dim!r}")
        self.sequence_dim, self.use_local_output = sequence_dim, use_local_output
        self.sequence_sharding = (Shard(sequence_dim),)

    def _apply(self, module: nn.Module, device_mesh: DeviceMesh) -> nn.Module:
        self._put(module, device_mesh, {})
        place = self.sequence_sharding[0]

        def before(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
            return (lifted(args[0], device_mesh, place, place), *args[1:]), kwargs

        def after(outputs: Any) -> Any:
            made = lifted(outputs, device_mesh, place, None)
            return made.to_local() if self.use_local_output and isinstance(made, DTensor) else made

        around(module, before, after)
        return module
