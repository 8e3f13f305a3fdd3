"""How the numbers of a quantized tensor are scaled: `qscheme` and its five values, compared by identity."""

from __future__ import annotations

__all__ = [
    "per_channel_affine", "per_channel_affine_float_qparams", "per_channel_symmetric",
    "per_tensor_affine", "per_tensor_symmetric", "qscheme",
]  # fmt: skip


class qscheme:
    """The way in which integers stand for numbers: one scale and zero point for all, or for each channel.

    Args:
        name: under which it is found in taeda. Programs take one of the five that are there.

    >>> taeda.quantize_per_tensor(taeda.ones(2), 0.1, 0, taeda.qint8).qscheme()
    taeda.per_tensor_affine
    """

    __slots__ = ("name",)
    __module__ = "taeda"

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"taeda.{self.name}"

    def __reduce__(self) -> str:
        return self.name


per_tensor_affine = qscheme("per_tensor_affine")
per_channel_affine = qscheme("per_channel_affine")
per_tensor_symmetric = qscheme("per_tensor_symmetric")
per_channel_symmetric = qscheme("per_channel_symmetric")
per_channel_affine_float_qparams = qscheme("per_channel_affine_float_qparams")
