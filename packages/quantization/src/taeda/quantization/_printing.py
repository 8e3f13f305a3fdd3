"""What stands behind the numbers of a quantized tensor in its text."""

from __future__ import annotations

from ._parts import Quantized

__all__ = ["suffixes"]


def suffixes(parts: Quantized) -> list[str]:
    """Size, dtype, scheme, scale and zero point."""
    found = [
        f"size={tuple(parts.integers.shape)}",
        f"dtype={parts.dtype}",
        f"quantization_scheme={parts.scheme}",
        f"scale={parts.scale}",
        f"zero_point={parts.zero_point}",
    ]
    return found if parts.axis is None else [*found, f"axis={parts.axis}"]
