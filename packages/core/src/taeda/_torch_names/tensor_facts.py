"""Functions at the top that do what a method of Tensor does, and questions of older programs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from .._layers.doors import asks, require_tensors
from .._native import core as _core

if TYPE_CHECKING:
    from taeda import Tensor
else:
    Tensor = _core.Tensor

__all__ = [
    "detach_", "get_device", "get_file_path", "init_num_threads", "is_distributed", "is_same_size",
    "is_vulkan_available", "to_dlpack",
]  # fmt: skip


@asks
def detach_(input: Tensor) -> Tensor:
    """`input.detach_()`: out of the graph, in place.

    Args:
        input: a tensor of any dtype; RuntimeError for a view.

    >>> x = taeda.tensor([[1, 2, 3], [4, 5, 6]])
    >>> taeda.detach_(x)
    tensor([[1, 2, 3],
            [4, 5, 6]])
    """
    require_tensors("detach_", input=input)
    return input.detach_()


@asks
def get_device(input: Tensor) -> int:
    """The number of the tensor's device; -1 on the cpu.

    Args:
        input: a tensor of any shape and dtype.

    >>> taeda.get_device(taeda.ones(2))
    -1
    """
    require_tensors("get_device", input=input)
    return input.get_device()


@asks
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether the shapes are the same.

    Args:
        input: a tensor of any shape and dtype.
        other: the tensor whose shape is compared; its dtype may be another.

    >>> is_same_size(taeda.ones(2, 1), taeda.ones(2))
    False
    """
    require_tensors("is_same_size", input=input, other=other)
    return input.shape == other.shape


@asks
def is_distributed(input: Tensor) -> bool:
    """False: a plain tensor lies in one process.

    Args:
        input: a tensor of any shape and dtype.

    >>> taeda.is_distributed(taeda.ones(2))
    False
    """
    return False


def is_vulkan_available() -> bool:
    """False: this build has no Vulkan kernels.

    >>> taeda.is_vulkan_available()
    False
    """
    return False


def init_num_threads() -> None:
    """Nothing: the pool of threads begins with the first work for it.

    >>> taeda.init_num_threads()
    """


def get_file_path(*parts: str) -> str:
    """A path beside the folder of this package. Nobody asks whether there is such a file.

    Args:
        *parts: folders and a file, from the folder that holds `taeda`; without any, that folder.

    >>> import os
    >>> os.path.basename(taeda.get_file_path("taeda", "version.txt"))
    'version.txt'
    """
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return os.path.join(root, *parts)


@asks
def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule on the tensor's memory.

    Args:
        tensor: a strided tensor of a dtype that DLPack knows; its gradient is not carried along.
            BufferError for tensors without memory, such as on "meta".

    >>> x = taeda.ones(2)
    >>> y = taeda.utils.dlpack.from_dlpack(taeda.to_dlpack(x))
    >>> y.data_ptr() == x.data_ptr()
    True
    """
    from ..utils.dlpack import to_dlpack as export

    return export(tensor)
