"""What this machine can offer: engines, launchers, a default for a device."""

from __future__ import annotations

import os

import taeda

from .._engines import nccl_library
from .._mpi import world as mpi_world
from .._types import Backend

__all__ = [
    "get_default_backend_for_device",
    "is_available",
    "is_backend_available",
    "is_gloo_available",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "is_xccl_available",
]


def is_available() -> bool:
    """Is this package installed? It is.

    >>> taeda.distributed.is_available()
    True
    """
    return True


def is_mpi_available() -> bool:
    """Is the engine of the backend "mpi" installed?

    >>> taeda.distributed.is_mpi_available()
    True
    """
    return mpi_world.is_available()


def is_gloo_available() -> bool:
    """Is there a backend that answers to "gloo"? It is MPI's, and there when MPI is.

    >>> taeda.distributed.is_gloo_available()
    True
    """
    return is_mpi_available()


def is_nccl_available() -> bool:
    """Are NCCL's library and a GPU there?

    >>> dist = taeda.distributed
    >>> dist.is_nccl_available() == dist.is_backend_available("nccl")
    True
    """
    return nccl_library.is_available()


def is_ucc_available() -> bool:
    """False.

    >>> taeda.distributed.is_ucc_available()
    False
    """
    return False


def is_xccl_available() -> bool:
    """False.

    >>> taeda.distributed.is_xccl_available()
    False
    """
    return False


def is_backend_available(backend: str) -> bool:
    """Can groups be made on `backend`?

    Args:
        backend: its name, in any case.

    >>> from taeda.distributed import is_backend_available
    >>> is_backend_available("Gloo"), is_backend_available("ucc")
    (True, False)
    """
    word = backend.lower()
    if word in (Backend.MPI, Backend.GLOO):
        return is_mpi_available()
    if word == Backend.NCCL:
        return is_nccl_available()
    return word in (Backend.FAKE, Backend.INPROC) or word in Backend._makers


def is_torchelastic_launched() -> bool:
    """Was this process started by `taedarun`?

    >>> taeda.distributed.is_torchelastic_launched()
    False
    """
    return "TORCHELASTIC_RUN_ID" in os.environ


def get_default_backend_for_device(device: str | taeda.device) -> str:
    """The backend for tensors of a device. ValueError for one that has none.

    Args:
        device: a device or its name, such as "cpu".

    >>> taeda.distributed.get_default_backend_for_device("cpu")
    'gloo'
    """
    kind = taeda.device(device).type
    if kind not in ("cpu", "cuda"):
        raise ValueError(f"no backend carries tensors of {kind!r} in this release")
    return str(Backend.GLOO if kind == "cpu" else Backend.NCCL)
