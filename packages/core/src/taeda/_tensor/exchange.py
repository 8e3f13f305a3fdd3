"""Memory shared with numpy and, through DLPack, with others."""

from __future__ import annotations

from typing import Any

from .._native import core as _core
from ._method import Tensor, method, set_property


@method
def numpy(self: Tensor, *, force: bool = False) -> Any:
    """The same memory as a numpy array.

    RuntimeError if the tensor requires grad or has a conj or neg bit (force=True detaches and copies then);
    TypeError for meta tensors. bfloat16 and float8 arrays carry the dtypes of ml_dtypes.

    Args:
        force: whether a copy is made where the memory cannot be shared; False by default.
    """
    array = None if force else _core.to_array(self)
    return _numpy_of_unusual(self, force) if array is None else array


def _numpy_of_unusual(self: Tensor, force: bool) -> Any:
    import numpy as np

    if self.layout is not _core.strided:
        raise TypeError(
            f".numpy() is not supported for a tensor of layout {self.layout}: it has no memory of its "
            "own. Ask its indices and values, or to_dense()"
        )
    if type(self) is not Tensor and self._dispatches():
        raise RuntimeError(
            ".numpy() is not supported for tensor subclasses whose operators run in "
            f"__torch_dispatch__, got {type(self).__name__}. "
            "Ask the tensors inside it"
        )
    if force:
        return self.detach().cpu().resolve_conj().resolve_neg().numpy()
    if self.requires_grad and not _core.is_grad_enabled():
        return self.detach().numpy()  # no graph could lose what is computed from the array
    if self.requires_grad:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    if self.is_conj():
        raise RuntimeError(
            "Can't call numpy() on Tensor that has conjugate bit set. Use "
            "tensor.resolve_conj().numpy() instead."
        )
    if self.is_neg():
        raise RuntimeError(
            "Can't call numpy() on Tensor that has negative bit set. Use "
            "tensor.resolve_neg().numpy() instead."
        )
    if self.device.type != "cpu":
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy "
            "the tensor to host memory first."
        )
    name = str(self.dtype).rpartition(".")[2]
    if name.startswith(("bfloat", "float8")):
        import ml_dtypes

        plain = self.view(_core.uint8 if self.itemsize == 1 else _core.int16)
        return np.asarray(memoryview(plain)).view(getattr(ml_dtypes, name))
    if name in ("complex32",) or name.startswith("q"):
        raise TypeError(f"Got unsupported ScalarType {name}: numpy has no such dtype")
    return np.asarray(memoryview(self))


@method
def __array__(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Any:
    """What numpy asks for: an array on this memory, or a copy.
    ValueError if `copy` is False and one is needed.
    """
    array = self.numpy()
    if dtype is None or array.dtype == dtype:
        return array.copy() if copy else array
    if copy is False:
        raise ValueError(
            f"__array__: dtype {dtype} of a {self.dtype} tensor needs a copy, and copy=False forbids it"
        )
    return array.astype(dtype)


@method
def __array_wrap__(
    self: Tensor, array: Any, context: Any = None, return_scalar: bool = False
) -> Any:
    from .creation import from_numpy

    return from_numpy(array.copy() if not array.flags.writeable else array)


Tensor.__array_priority__ = 1000  # numpy lets the tensor's own operators answer


@method
def __dlpack__(
    self: Tensor,
    *,
    stream: int | None = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """A DLPack capsule on this memory, of version 1 if `max_version` allows it; see `taeda.utils.dlpack`."""
    from ..utils.dlpack import export  # late: it needs Tensor complete

    return export(self, stream, max_version, dl_device, copy)


@method
def __dlpack_device__(self: Tensor) -> tuple[int, int]:
    """Where the memory lies, in DLPack's numbers: (1, 0), the cpu, or (2, ordinal), a CUDA device.
    ValueError for a meta tensor, which has none.
    """
    from ..utils.dlpack import device_of  # late: it needs Tensor complete

    return device_of(self)


_LETTERS = {
    "bool": "|b1", "uint8": "|u1", "int8": "|i1", "int16": "<i2", "uint16": "<u2", "int32": "<i4",
    "uint32": "<u4", "int64": "<i8", "uint64": "<u8", "float16": "<f2", "float32": "<f4",
    "float64": "<f8", "complex64": "<c8", "complex128": "<c16",
}  # fmt: skip


def _cuda_array_interface(self: Tensor) -> dict[str, Any]:
    if self.device.type != "cuda":
        raise AttributeError(
            f"__cuda_array_interface__ is of tensors on a CUDA device, and this one is on {self.device}: "
            "move it there first"
        )
    name = str(self.dtype).rpartition(".")[2]
    if name not in _LETTERS:
        raise AttributeError(
            f"__cuda_array_interface__ has no letters for {self.dtype}: use DLPack"
        )
    if self.requires_grad:
        raise RuntimeError("a tensor that requires gradients is not shared: use detach()")
    plain = self.resolve_conj().resolve_neg()
    size = plain.element_size()
    dense = plain.is_contiguous()
    return {
        "typestr": _LETTERS[name],
        "shape": tuple(plain.shape),
        "strides": None if dense else tuple(step * size for step in plain.stride()),
        "data": (plain.data_ptr() if plain.numel() else 0, False),
        "stream": _core.cuda_stream_get(plain.device.index) or 1,
        "version": 3,
    }


set_property(
    "__cuda_array_interface__",
    _cuda_array_interface,
    "The memory of a tensor on a CUDA device, as CuPy and Numba read it. AttributeError for other tensors.",
)


#: a capsule on DLPack's table of C functions; consumers look it up on the type
Tensor.__dlpack_c_exchange_api__ = _core.dlpack_table()


@method
def __array_namespace__(self: Tensor, *, api_version: str | None = None) -> Any:
    """`taeda.array_api`: the functions of the array API standard.
    ValueError for a version of it that is not there.
    """
    if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        raise ValueError(f"__array_namespace__: version 2025.12 is there, got {api_version!r}")
    from .. import array_api  # late: it needs Tensor complete

    return array_api


@method
def to_device(self: Tensor, device: Any, /, *, stream: Any = None) -> Tensor:
    """The tensor on a device, in the array API's word for `to`.

    Args:
        device: a device or its name.
        stream: only None; ValueError for anything else.
    """
    if stream is not None:
        raise ValueError("to_device: there are no streams to wait for; leave stream out")
    return self.to(device)
