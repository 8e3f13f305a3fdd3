"""Types that annotations of programs name."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import IO, Any, TypeAlias

from taeda import Size, Tensor, device, dtype, layout
from taeda.storage import TypedStorage, UntypedStorage

__all__ = ["Device", "FileLike", "Number", "Storage"]

_int, _float, _bool, _complex = builtins.int, builtins.float, builtins.bool, builtins.complex
_symint, _symbool, _symfloat = builtins.int, builtins.bool, builtins.float  # sizes are numbers here
_dtype, _device, _layout = dtype, device, layout
_size: TypeAlias = Size | list[int] | tuple[int, ...]
_dispatchkey: TypeAlias = str
_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_TensorOrTensorsOrGradEdge: TypeAlias = Tensor | Sequence[Tensor] | Any

#: a number of Python
Number: TypeAlias = builtins.int | builtins.float | builtins.bool
#: what stands for a device: the device, its name, its index, or None for the default
Device: TypeAlias = device | str | builtins.int | None
#: a path, or a file that is open for bytes
FileLike: TypeAlias = str | os.PathLike[str] | IO[bytes]
#: memory of tensors
Storage: TypeAlias = UntypedStorage | TypedStorage
