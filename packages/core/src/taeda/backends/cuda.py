"""CUDA: this build has none. The settings of its products are kept for programs that make them."""

from __future__ import annotations

from typing import Any

__all__ = [
    "can_use_cudnn_attention", "can_use_efficient_attention", "can_use_flash_attention", "is_built", "is_flash_attention_available",
    "matmul",
]  # fmt: skip


class MatmulSettings:
    """How CUDA products may round."""

    allow_tf32: bool = False
    allow_fp16_reduced_precision_reduction: bool = True
    allow_bf16_reduced_precision_reduction: bool = True


matmul = MatmulSettings()


def is_built() -> bool:
    """False: this build has no CUDA kernels."""
    return False


def is_flash_attention_available() -> bool:
    """False: the flash kernels are CUDA's."""
    return False


def can_use_flash_attention(params: Any, debug: bool = False) -> bool:
    """False: the flash kernels are CUDA's."""
    return False


def can_use_efficient_attention(params: Any, debug: bool = False) -> bool:
    """False: the memory-efficient kernels are CUDA's."""
    return False


def can_use_cudnn_attention(params: Any, debug: bool = False) -> bool:
    """False: there is no cuDNN."""
    return False
