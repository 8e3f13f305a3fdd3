"""Exchange of channels and space, and shuffles of channels."""

from __future__ import annotations

from taeda import Tensor

from .. import functional as F
from .module import Module

__all__ = ["ChannelShuffle", "PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """(*, C · r², H, W) to (*, C, H · r, W · r).

    Args:
        upscale_factor: the factor r of height and width, at least 1.

    Shi and others (arXiv:1609.05158). The same as a function: `nn.functional.pixel_shuffle`.

    >>> PixelShuffle(2)(taeda.zeros(1, 4, 3, 3)).shape
    taeda.Size([1, 1, 6, 6])
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Raises RuntimeError where the channels do not divide."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(*, C, H · r, W · r) to (*, C · r², H, W).

    Args:
        downscale_factor: the divisor r of height and width, at least 1.

    The same as a function: `nn.functional.pixel_unshuffle`.

    >>> PixelUnshuffle(2)(taeda.zeros(1, 1, 6, 6)).shape
    taeda.Size([1, 4, 3, 3])
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Raises RuntimeError where the sizes do not divide."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Deals the channels of (N, C, *) out over groups.

    Args:
        groups: number of groups; it divides the channels.

    The same as a function: `nn.functional.channel_shuffle`.

    >>> ChannelShuffle(2)(taeda.arange(4.0).reshape(1, 4, 1)).flatten()
    tensor([0., 2., 1., 3.])
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Raises RuntimeError where the channels do not divide."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
