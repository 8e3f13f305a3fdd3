"""Where a rank's part of a tensor lies, as libraries for PyTorch ask for it."""

from __future__ import annotations

from collections.abc import Sequence

from ..device_mesh import DeviceMesh
from ._spec import Spec, check_placements
from .placement_types import Placement

__all__ = ["compute_local_shape_and_global_offset"]


def compute_local_shape_and_global_offset(
    global_shape: Sequence[int], mesh: DeviceMesh, placements: Sequence[Placement]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Shape of this rank's part of a tensor of `global_shape`, and the place of its first element.

    `placements` has one entry for each dimension of `mesh`; TypeError or ValueError for others.
    """
    shape = tuple(global_shape)
    places = check_placements(placements, mesh, len(shape), "compute_local_shape_and_global_offset")
    offsets, sizes = Spec.of(mesh, places, shape).box
    return sizes, offsets
