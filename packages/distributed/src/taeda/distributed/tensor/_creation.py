"""DTensors from a shape: each rank makes its part, and random ones have one device's numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import taeda
from taeda import Tensor

from ..device_mesh import DeviceMesh, device_of
from ._api import DTensor, check_mesh, mesh_or_current
from ._random_rows import drawn
from ._redistribute import redistributed
from ._spec import Spec, check_placements
from .placement_types import Partial, Placement, Replicate

__all__ = ["empty", "full", "ones", "rand", "randn", "zeros"]


def _made(
    name: str,
    size: tuple[Any, ...],
    make: Callable[[Spec, Any], Tensor],
    device_mesh: DeviceMesh | None,
    placements: Sequence[Placement] | None,
    dtype: Any,
    layout: Any,
    requires_grad: bool,
) -> DTensor:
    listed = len(size) == 1 and isinstance(size[0], (list, tuple))
    shape = tuple(size[0]) if listed else tuple(size)
    if any(isinstance(length, bool) or not isinstance(length, int) for length in shape):
        raise TypeError(f"{name}: a size is a sequence of integers, not {shape}")
    if any(length < 0 for length in shape):
        raise RuntimeError(f"{name}: a size is not negative: {shape}")
    if layout is not taeda.strided:
        raise NotImplementedError(f"{name}: the parts of a DTensor are strided, not {layout}")
    mesh = check_mesh(mesh_or_current(device_mesh, name), name)
    given = [Replicate()] * mesh.ndim if placements is None else placements
    places = check_placements(given, mesh, len(shape), name)
    if any(isinstance(place, Partial) for place in places):
        raise ValueError(f"{name}: a new tensor is not made of terms (Partial)")
    dtype = taeda.get_default_dtype() if dtype is None else dtype
    spec = Spec.of(mesh, places, shape)
    made: DTensor = DTensor(make(spec, dtype), spec).requires_grad_(requires_grad)
    return made


def zeros(
    *size: Any,
    requires_grad: bool = False,
    dtype: Any = None,
    layout: Any = taeda.strided,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """A DTensor of zeros; without placements every rank has all of it.

    Args:
        size: the shape of the whole, as numbers or one sequence of them.
        dtype: the dtype; None is the default one.
        layout: `taeda.strided`, the only one.
        requires_grad: True for a leaf that gets a gradient; False is the default.
        device_mesh: the ranks that it lies on; None is the mesh of the `with` around.
        placements: how it lies along each dimension of the mesh; None is whole on every rank.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.tensor import Shard, zeros
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> x = zeros(2, device_mesh=mesh, placements=[Shard(0)])
    >>> x.to_local()  # this rank's part
    tensor([0., 0.])
    >>> dist.destroy_process_group()
    """
    return full(
        size,
        0,
        requires_grad=requires_grad,
        dtype=dtype or taeda.get_default_dtype(),
        layout=layout,
        device_mesh=device_mesh,
        placements=placements,
    )


def ones(
    *size: Any,
    dtype: Any = None,
    layout: Any = taeda.strided,
    requires_grad: bool = False,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """A DTensor of ones; without placements every rank has all of it.

    Args:
        size: the shape of the whole, as numbers or one sequence of them.
        dtype: the dtype; None is the default one.
        layout: `taeda.strided`, the only one.
        requires_grad: True for a leaf that gets a gradient; False is the default.
        device_mesh: the ranks that it lies on; None is the mesh of the `with` around.
        placements: how it lies along each dimension of the mesh; None is whole on every rank.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.tensor import Shard, ones
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> x = ones(2, device_mesh=mesh, placements=[Shard(0)])
    >>> x.to_local()  # this rank's part
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    return full(
        size,
        1,
        requires_grad=requires_grad,
        dtype=dtype or taeda.get_default_dtype(),
        layout=layout,
        device_mesh=device_mesh,
        placements=placements,
    )


def empty(
    *size: Any,
    dtype: Any = None,
    layout: Any = taeda.strided,
    requires_grad: bool = False,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """A DTensor whose values are not set; without placements every rank has all of it.

    Args:
        size: the shape of the whole, as numbers or one sequence of them.
        dtype: the dtype; None is the default one.
        layout: `taeda.strided`, the only one.
        requires_grad: True for a leaf that gets a gradient; False is the default.
        device_mesh: the ranks that it lies on; None is the mesh of the `with` around.
        placements: how it lies along each dimension of the mesh; None is whole on every rank.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.tensor import Shard, empty
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> empty(4, 3, device_mesh=mesh, placements=[Shard(0)]).shape
    taeda.Size([4, 3])
    >>> dist.destroy_process_group()
    """

    def make(spec: Spec, dtype: Any) -> Tensor:
        return taeda.empty(spec.local_shape, dtype=dtype, device=device_of(spec.mesh))

    return _made("empty", size, make, device_mesh, placements, dtype, layout, requires_grad)


def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = taeda.strided,
    requires_grad: bool = False,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """A DTensor of one number; without placements every rank has all of it.

    Args:
        size: the shape of the whole, as numbers or one sequence of them.
        dtype: the dtype; None is the default one.
        layout: `taeda.strided`, the only one.
        requires_grad: True for a leaf that gets a gradient; False is the default.
        device_mesh: the ranks that it lies on; None is the mesh of the `with` around.
        placements: how it lies along each dimension of the mesh; None is whole on every rank.
        fill_value: the number.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.tensor import Shard, full
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> x = full((2,), 7.0, device_mesh=mesh, placements=[Shard(0)])
    >>> x.to_local()  # this rank's part
    tensor([7., 7.])
    >>> dist.destroy_process_group()
    """
    if dtype is None:
        dtype = taeda.full((), fill_value).dtype
    shape = size if isinstance(size, (list, tuple)) else (size,)
    if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
        shape = shape[0]

    def make(spec: Spec, dtype: Any) -> Tensor:
        place = device_of(spec.mesh)
        return taeda.full(spec.local_shape, fill_value, dtype=dtype, device=place)

    return _made("full", tuple(shape), make, device_mesh, placements, dtype, layout, requires_grad)


def rand(
    *size: Any,
    requires_grad: bool = False,
    dtype: Any = None,
    layout: Any = taeda.strided,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """A DTensor of uniform numbers in [0, 1): those of `taeda.rand`, however it is cut.

    Args:
        size: the shape of the whole, as numbers or one sequence of them.
        dtype: the dtype; None is the default one.
        layout: `taeda.strided`, the only one.
        requires_grad: True for a leaf that gets a gradient; False is the default.
        device_mesh: the ranks that it lies on; None is the mesh of the `with` around.
        placements: how it lies along each dimension of the mesh; None is whole on every rank.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.tensor import Shard, rand
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> _ = taeda.manual_seed(0)
    >>> x = rand(2, 3, device_mesh=mesh, placements=[Shard(0)])
    >>> _ = taeda.manual_seed(0)
    >>> taeda.equal(x.full_tensor(), taeda.rand(2, 3))
    True
    >>> dist.destroy_process_group()
    """
    make = _draw(taeda.rand)
    return _made("rand", size, make, device_mesh, placements, dtype, layout, requires_grad)


def randn(
    *size: Any,
    requires_grad: bool = False,
    dtype: Any = None,
    layout: Any = taeda.strided,
    device_mesh: DeviceMesh | None = None,
    placements: Sequence[Placement] | None = None,
) -> DTensor:
    """A DTensor of normal numbers: those of `taeda.randn`, however it is cut.

    Args:
        size: the shape of the whole, as numbers or one sequence of them.
        dtype: the dtype; None is the default one.
        layout: `taeda.strided`, the only one.
        requires_grad: True for a leaf that gets a gradient; False is the default.
        device_mesh: the ranks that it lies on; None is the mesh of the `with` around.
        placements: how it lies along each dimension of the mesh; None is whole on every rank.

    >>> from taeda import distributed as dist
    >>> from taeda.distributed.tensor import Shard, randn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> mesh = dist.init_device_mesh("cpu", (1,))
    >>> _ = taeda.manual_seed(0)
    >>> x = randn(2, 3, device_mesh=mesh, placements=[Shard(0)])
    >>> _ = taeda.manual_seed(0)
    >>> taeda.equal(x.full_tensor(), taeda.randn(2, 3))
    True
    >>> dist.destroy_process_group()
    """
    make = _draw(taeda.randn)
    return _made("randn", size, make, device_mesh, placements, dtype, layout, requires_grad)


def _draw(kind: Any) -> Callable[[Spec, Any], Tensor]:
    def make(spec: Spec, dtype: Any) -> Tensor:
        place = device_of(spec.mesh)
        whole = drawn(lambda: kind(spec.shape, dtype=dtype, device=place), spec.mesh)
        return redistributed(whole, spec.whole(), spec)

    return make
