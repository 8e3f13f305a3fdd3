"""What the namespace says of itself."""

from __future__ import annotations

from typing import Any

import taeda

from ._common import DTYPES
from ._dtypes import isdtype

__all__ = ["Info"]


class Info:
    """The answers of `__array_namespace_info__()`."""

    def capabilities(self) -> dict[str, Any]:
        """Boolean indices and shapes that depend on values are there; an array may have 64 axes."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Any:
        """Where factories put arrays."""
        return taeda.get_default_device()

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """What factories make of each kind of number."""
        real = taeda.get_default_dtype()
        return {
            "real "
            "floating": real, "complex floating": real.to_complex(), "integral": taeda.int64,
            "indexing": taeda.int64,
        }  # fmt: skip

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, Any]:
        """The standard's dtypes of a kind, all of them if None."""
        every = [dtype for dtypes in DTYPES.values() for dtype in dtypes]
        return {str(d).rpartition(".")[2]: d for d in every if kind is None or isdtype(d, kind)}

    def devices(self) -> tuple[Any, ...]:
        """The devices: the cpu, and those of CUDA."""
        count = taeda.cuda.device_count()
        return (taeda.device("cpu"), *(taeda.device("cuda", i) for i in range(count)))
