"""Memory formats of the weights of convolutions."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]

M = TypeVar("M", bound=Any)


def convert_conv2d_weight_memory_format(module: M, memory_format: Any) -> M:
    """Lay the weights of all Conv2d and ConvTranspose2d in `module` out in a memory format.

    Args:
        module: the module that holds the convolutions.
        memory_format: `contiguous_format` or `channels_last`.

    >>> conv = taeda.nn.Conv2d(3, 4, 3)
    >>> _ = convert_conv2d_weight_memory_format(conv, taeda.channels_last)
    >>> conv.weight.is_contiguous(memory_format=taeda.channels_last)
    True
    """
    from ..modules.conv import Conv2d, ConvTranspose2d

    return _convert(module, (Conv2d, ConvTranspose2d), memory_format)


def convert_conv3d_weight_memory_format(module: M, memory_format: Any) -> M:
    """Lay the weights of all Conv3d and ConvTranspose3d in `module` out in a memory format.

    Args:
        module: the module that holds the convolutions.
        memory_format: `contiguous_format` or `channels_last_3d`.

    >>> conv = taeda.nn.Conv3d(3, 4, 3)
    >>> _ = convert_conv3d_weight_memory_format(conv, taeda.channels_last_3d)
    >>> conv.weight.is_contiguous(memory_format=taeda.channels_last_3d)
    True
    """
    from ..modules.conv import Conv3d, ConvTranspose3d

    return _convert(module, (Conv3d, ConvTranspose3d), memory_format)


def _convert(module: M, kinds: tuple[type, ...], memory_format: Any) -> M:
    for layer in module.modules():
        if isinstance(layer, kinds):
            weight = layer.weight.detach().clone()  # type: ignore[attr-defined]  # a convolution
            layer.weight.data = weight.contiguous(memory_format=memory_format)  # type: ignore[attr-defined]
    return module
