"""CUDA: this build has none. The settings of its products are kept for programs that make them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

__all__ = [
    "SDPAParams", "allow_fp16_bf16_reduction_math_sdp", "can_use_cudnn_attention",
    "can_use_efficient_attention",
    "can_use_flash_attention", "cudnn_sdp_enabled", "cufft_plan_cache", "enable_cudnn_sdp",
    "enable_flash_sdp", "enable_math_sdp",
    "enable_mem_efficient_sdp", "flash_sdp_enabled", "fp16_bf16_reduction_math_sdp_allowed", "is_built",
    "is_flash_attention_available", "math_sdp_enabled", "matmul", "mem_efficient_sdp_enabled",
    "preferred_blas_library",
    "preferred_linalg_library", "preferred_rocm_fa_library", "sdp_kernel",
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


# ---- attention: the CPU has one implementation, which all of these settings leave as it is ----


@dataclass
class SDPAParams:
    """The arguments of one call of `scaled_dot_product_attention`, for the questions `can_use_...`."""

    query: Any
    key: Any
    value: Any
    attn_mask: Any
    dropout: float
    is_causal: bool
    enable_gqa: bool


class _Allowed:
    flash = mem_efficient = math = cudnn = True
    low_reduction = False


def flash_sdp_enabled() -> bool:
    """Whether `enable_flash_sdp` allows flash attention."""
    return _Allowed.flash


def enable_flash_sdp(enabled: bool) -> None:
    """Keep whether CUDA may use flash attention."""
    _Allowed.flash = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Whether `enable_mem_efficient_sdp` allows it."""
    return _Allowed.mem_efficient


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Keep whether CUDA may use the memory-efficient kernels."""
    _Allowed.mem_efficient = bool(enabled)


def math_sdp_enabled() -> bool:
    """Whether `enable_math_sdp` allows attention by single operations."""
    return _Allowed.math


def enable_math_sdp(enabled: bool) -> None:
    """Keep whether CUDA may compute attention by single operations."""
    _Allowed.math = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether `enable_cudnn_sdp` allows it."""
    return _Allowed.cudnn


def enable_cudnn_sdp(enabled: bool) -> None:
    """Keep whether CUDA may use cuDNN for attention."""
    _Allowed.cudnn = bool(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether half types may add up in half precision."""
    return _Allowed.low_reduction


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Keep whether CUDA may add up half types in half precision."""
    _Allowed.low_reduction = bool(enabled)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Within the block the four settings are these; `nn.attention.sdpa_kernel` is the newer form."""
    before = _Allowed.flash, _Allowed.math, _Allowed.mem_efficient, _Allowed.cudnn
    _take(enable_flash, enable_math, enable_mem_efficient, enable_cudnn)
    try:
        yield
    finally:
        _take(*before)


def _take(flash: bool, math: bool, mem_efficient: bool, cudnn: bool) -> None:
    _Allowed.flash, _Allowed.math = bool(flash), bool(math)
    _Allowed.mem_efficient, _Allowed.cudnn = bool(mem_efficient), bool(cudnn)


# ---- libraries that CUDA would choose from ----


class _Preferred:
    linalg, blas, attention = "default", "default", "default"


def _choice(name: str, backend: str | None, known: tuple[str, ...]) -> str:
    if backend is not None:
        if backend not in known:
            raise RuntimeError(
                f"Unknown input value. Choose from: {', '.join(known)}; got {backend!r}."
            )
        setattr(_Preferred, name, backend)
    return str(getattr(_Preferred, name))


def preferred_linalg_library(backend: str | None = None) -> str:
    """The library that CUDA would prefer for linear algebra: keep "default", "magma" or "cusolver";
    return the setting.
    """
    return _choice("linalg", backend, ("default", "cusolver", "magma"))


def preferred_blas_library(backend: str | None = None) -> str:
    """The library that CUDA would prefer for products: keep "default", "cublas", "cublaslt" or
    "ck"; return the setting.
    """
    return _choice("blas", backend, ("default", "cublas", "cublaslt", "hipblaslt", "ck"))


def preferred_rocm_fa_library(backend: str | None = None) -> str:
    """The library that ROCm would prefer for attention: keep "default", "aotriton" or "ck"; return
    the setting.
    """
    return _choice("attention", backend, ("default", "aotriton", "ck"))


class _PlanCache:
    """Plans of cuFFT for one device: none are held."""

    size = 0
    max_size = 0

    def clear(self) -> None:
        """Nothing: there are no plans."""


class _PlanCaches(_PlanCache):
    def __getitem__(self, device: Any) -> _PlanCache:
        raise RuntimeError(
            f"cufft_plan_cache: expected 0 <= device index < 0, but got device with index {device}"
        )


cufft_plan_cache = _PlanCaches()
