"""Reading what is mapped without trust in its file: the system answers with an error, where a plain
access ends the program.
"""

from __future__ import annotations

import errno
import os

import taeda
from taeda import Tensor
from taeda._native import core as _core

from .geometry import extent

__all__ = ["read_mapped"]

_CHUNK = 1 << 20


def read_mapped(tensor: Tensor) -> Tensor:
    """A copy of a tensor in memory of its own, of the same shape, dtype and strides, without its history.

    For tensors of `load(..., mmap=True)` and `from_file` whose file others may write to. OSError if
    the file was shortened, so that bytes of the tensor are gone; an operation on the tensor itself
    would end the program (SIGBUS).

    Args:
        tensor: on the cpu, of any dtype and layout in memory.

    >>> read_mapped(taeda.ones(2))
    tensor([1., 1.])
    """
    begin, end = extent(tensor)
    copy = taeda.empty(end - begin, dtype=taeda.uint8)
    if end > begin:
        source = memoryview(_core.storage_bytes(tensor))[begin:end]
        _copy(source, memoryview(_core.storage_bytes(copy)))
    made = _core.on_storage(copy, tensor.dtype, tuple(tensor.shape), tuple(tensor.stride()), 0)
    made = made.conj() if tensor.is_conj() else made
    return -made if tensor.is_neg() else made


def _copy(source: memoryview, target: memoryview) -> None:
    between = os.memfd_create("taeda-read", os.MFD_CLOEXEC)
    try:
        at = 0
        while at < source.nbytes:
            done = _written(between, source[at : at + _CHUNK])
            os.preadv(between, [target[at : at + done]], 0)
            at += done
    finally:
        os.close(between)


def _written(descriptor: int, part: memoryview) -> int:
    """How many bytes could be read; at least one."""
    try:
        return os.pwrite(descriptor, part, 0)
    except OSError as error:
        if error.errno != errno.EFAULT:
            raise
        raise OSError(
            errno.EIO, "bytes of the tensor are gone: the file that it is mapped from was shortened"
        ) from None
