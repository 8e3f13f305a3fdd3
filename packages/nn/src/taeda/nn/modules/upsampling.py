"""Resizing as modules."""

from __future__ import annotations

from typing import Any

from taeda import Tensor

from .. import functional as F
from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Resizes (N, C, *) to `size` or by `scale_factor`; see `functional.interpolate` for the modes.

    Args:
        size: spatial sizes of the output, one int or a tuple (None).
        scale_factor: output sizes by input sizes, one number or a tuple (None); one of both is
            needed.
        mode: "nearest" (default), "linear", "bilinear", "bicubic", "trilinear" and others.
        align_corners: whether the corners' centres stay in place (None: no).
        recompute_scale_factor: whether the factor is computed anew from the sizes (None: no).

    The same as a function: `nn.functional.interpolate`.

    >>> Upsample(scale_factor=2)(taeda.zeros(1, 1, 2, 2)).shape
    taeda.Size([1, 1, 4, 4])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(map(float, scale_factor))
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) with other spatial sizes."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        by = (
            f"size={self.size}"
            if self.scale_factor is None
            else f"scale_factor={self.scale_factor}"
        )
        return f"{by}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resizes (N, C, H, W) by the nearest neighbour.

    Args:
        size: spatial sizes of the output, one int or a tuple (None).
        scale_factor: output sizes by input sizes, one number or a tuple (None); one of both is
            needed.

    The same as a function: `nn.functional.interpolate`.

    >>> UpsamplingNearest2d(scale_factor=2)(taeda.zeros(1, 1, 2, 2)).shape
    taeda.Size([1, 1, 4, 4])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resizes (N, C, H, W) bilinearly, with aligned corners.

    Args:
        size: spatial sizes of the output, one int or a tuple (None).
        scale_factor: output sizes by input sizes, one number or a tuple (None); one of both is
            needed.

    The same as a function: `nn.functional.interpolate`.

    >>> UpsamplingBilinear2d(size=5)(taeda.zeros(1, 1, 2, 2)).shape
    taeda.Size([1, 1, 5, 5])
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
