"""What `init_process_group` and `new_group` refuse: engines and devices that do not fit."""

from __future__ import annotations

import taeda

from .._engines import nccl_library
from .._errors import DistBackendError
from .._groups.by_device import backends_of, named
from .._mpi import world as mpi_world
from .._types import Backend
from .available import is_nccl_available

__all__ = ["check_device", "check_engine", "chosen_backends"]


def chosen_backends(backend: str | None) -> dict[str, Backend]:
    """By device; of None what there is."""
    if backend is not None:
        return backends_of(backend)
    return backends_of("cpu:gloo,cuda:nccl" if is_nccl_available() else Backend.GLOO)


def check_engine(name: str) -> None:
    if name in (Backend.MPI, Backend.GLOO):
        mpi_world.require(name)
    elif name == Backend.NCCL:
        nccl_library.library()
        if not taeda.cuda.is_available():
            raise DistBackendError(
                "backend 'nccl' carries tensors of GPUs, and this process sees none"
            )
    elif name == Backend.UNDEFINED:
        raise ValueError("backend 'undefined' stands for none")


def check_device(backends: dict[str, Backend], device_id: taeda.device | int | None) -> None:
    """The device of the group's tensors becomes current with NCCL; ValueError for one that no
    backend carries.
    """
    if device_id is None:
        return
    wanted = (
        taeda.device("cuda", device_id) if isinstance(device_id, int) else taeda.device(device_id)
    )
    if wanted.type not in backends:
        raise ValueError(
            f"device_id {device_id!r}: {named(backends)!r} carries tensors of the "
            f"{' and '.join(backends)} only"
        )
    if wanted.type == "cuda":
        taeda.cuda.set_device(wanted)
