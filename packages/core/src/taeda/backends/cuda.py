"""CUDA: how its products may round. Settings of attention and of libraries are kept for programs that
make them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from taeda import _settings
from taeda._native import core as _core

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


_NO_SHORT_SUMS = {"float16": 2, "bfloat16": 4}  # flags of `cuda_product_rounding`


class MatmulSettings:
    """How cuBLASLt may round in products on CUDA devices. Where it is missing, or a product is not
    for it, our own kernels compute in float32 and these change nothing.
    """

    __slots__ = ("_accumulation", "_short")  # a flag that there is not is refused

    def __init__(self) -> None:
        self._short = dict.fromkeys(_NO_SHORT_SUMS, True)
        self._accumulation = False

    @property
    def allow_tf32(self) -> bool:
        """May products of float32 and complex64 read 10 bits of a factor's fraction? The same as
        `set_float32_matmul_precision`: True is "high", False "highest".
        """
        return _settings.get_float32_matmul_precision() != "highest"

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        _settings.set_float32_matmul_precision("high" if _flag(allowed) else "highest")

    @property
    def allow_fp16_reduced_precision_reduction(self) -> bool:
        """May parts of a sum be joined in float16? Parts themselves are summed in float32."""
        return self._short["float16"]

    @allow_fp16_reduced_precision_reduction.setter
    def allow_fp16_reduced_precision_reduction(self, allowed: bool) -> None:
        self._set("float16", allowed)

    @property
    def allow_bf16_reduced_precision_reduction(self) -> bool:
        """The same for bfloat16."""
        return self._short["bfloat16"]

    @allow_bf16_reduced_precision_reduction.setter
    def allow_bf16_reduced_precision_reduction(self, allowed: bool) -> None:
        self._set("bfloat16", allowed)

    @property
    def allow_fp16_accumulation(self) -> bool:
        """Kept, and nothing more: sums of float16 are float32."""
        return self._accumulation

    @allow_fp16_accumulation.setter
    def allow_fp16_accumulation(self, allowed: bool) -> None:
        self._accumulation = _flag(allowed)

    def _set(self, dtype: str, allowed: bool) -> None:
        self._short[dtype] = _flag(allowed)
        _core.cuda_product_rounding(_NO_SHORT_SUMS[dtype], not allowed)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise RuntimeError(f"expected a bool, but got {type(value).__name__}: give True or False")
    return value


matmul = MatmulSettings()


def is_built() -> bool:
    """True: CUDA's part is in every build. Whether there is a device, `cuda.is_available()` says.

    >>> taeda.backends.cuda.is_built()  # also where taeda.cuda.is_available() is False
    True
    """
    return True


def is_flash_attention_available() -> bool:
    """False: the flash kernels are CUDA's.

    >>> taeda.backends.cuda.is_flash_attention_available()
    False
    """
    return False


def can_use_flash_attention(params: Any, debug: bool = False) -> bool:
    """False: the flash kernels are CUDA's.

    >>> q = taeda.ones(1, 2, 4, 8)
    >>> call = taeda.backends.cuda.SDPAParams(q, q, q, None, 0.0, True, False)
    >>> taeda.backends.cuda.can_use_flash_attention(call)
    False
    """
    return False


def can_use_efficient_attention(params: Any, debug: bool = False) -> bool:
    """False: the memory-efficient kernels are CUDA's.

    >>> q = taeda.ones(1, 2, 4, 8)
    >>> call = taeda.backends.cuda.SDPAParams(q, q, q, None, 0.0, True, False)
    >>> taeda.backends.cuda.can_use_efficient_attention(call)
    False
    """
    return False


def can_use_cudnn_attention(params: Any, debug: bool = False) -> bool:
    """False: there is no cuDNN.

    >>> q = taeda.ones(1, 2, 4, 8)
    >>> call = taeda.backends.cuda.SDPAParams(q, q, q, None, 0.0, True, False)
    >>> taeda.backends.cuda.can_use_cudnn_attention(call)
    False
    """
    return False


# ---- attention: the CPU has one implementation, which all of these settings leave as it is ----


@dataclass
class SDPAParams:
    """The arguments of one call of `scaled_dot_product_attention`, for the questions `can_use_...`.

    >>> q = taeda.ones(1, 2, 4, 8)
    >>> call = taeda.backends.cuda.SDPAParams(
    ...     q, q, q, attn_mask=None, dropout=0.0, is_causal=True, enable_gqa=False
    ... )
    >>> call.query.shape, call.is_causal
    (taeda.Size([1, 2, 4, 8]), True)
    """

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
    """Whether `enable_flash_sdp` allows flash attention.

    >>> taeda.backends.cuda.flash_sdp_enabled()
    True
    """
    return _Allowed.flash


def enable_flash_sdp(enabled: bool) -> None:
    """Keep whether CUDA may use flash attention.

    >>> taeda.backends.cuda.enable_flash_sdp(False)
    >>> taeda.backends.cuda.flash_sdp_enabled()
    False
    >>> taeda.backends.cuda.enable_flash_sdp(True)
    """
    _Allowed.flash = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Whether `enable_mem_efficient_sdp` allows it.

    >>> taeda.backends.cuda.mem_efficient_sdp_enabled()
    True
    """
    return _Allowed.mem_efficient


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Keep whether CUDA may use the memory-efficient kernels.

    >>> taeda.backends.cuda.enable_mem_efficient_sdp(False)
    >>> taeda.backends.cuda.mem_efficient_sdp_enabled()
    False
    >>> taeda.backends.cuda.enable_mem_efficient_sdp(True)
    """
    _Allowed.mem_efficient = bool(enabled)


def math_sdp_enabled() -> bool:
    """Whether `enable_math_sdp` allows attention by single operations.

    >>> taeda.backends.cuda.math_sdp_enabled()
    True
    """
    return _Allowed.math


def enable_math_sdp(enabled: bool) -> None:
    """Keep whether CUDA may compute attention by single operations.

    >>> taeda.backends.cuda.enable_math_sdp(False)
    >>> taeda.backends.cuda.math_sdp_enabled()
    False
    >>> taeda.backends.cuda.enable_math_sdp(True)
    """
    _Allowed.math = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether `enable_cudnn_sdp` allows it.

    >>> taeda.backends.cuda.cudnn_sdp_enabled()
    True
    """
    return _Allowed.cudnn


def enable_cudnn_sdp(enabled: bool) -> None:
    """Keep whether CUDA may use cuDNN for attention.

    >>> taeda.backends.cuda.enable_cudnn_sdp(False)
    >>> taeda.backends.cuda.cudnn_sdp_enabled()
    False
    >>> taeda.backends.cuda.enable_cudnn_sdp(True)
    """
    _Allowed.cudnn = bool(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether half types may add up in half precision.

    >>> taeda.backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
    False
    """
    return _Allowed.low_reduction


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Keep whether CUDA may add up half types in half precision.

    >>> taeda.backends.cuda.allow_fp16_bf16_reduction_math_sdp(True)
    >>> taeda.backends.cuda.fp16_bf16_reduction_math_sdp_allowed()
    True
    >>> taeda.backends.cuda.allow_fp16_bf16_reduction_math_sdp(False)
    """
    _Allowed.low_reduction = bool(enabled)


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Within the block the four settings are these; `nn.attention.sdpa_kernel` is the newer form.

    >>> with taeda.backends.cuda.sdp_kernel(enable_flash=False):
    ...     taeda.backends.cuda.flash_sdp_enabled(), taeda.backends.cuda.math_sdp_enabled()
    (False, True)
    """
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

    >>> taeda.backends.cuda.preferred_linalg_library("cusolver")
    'cusolver'
    >>> taeda.backends.cuda.preferred_linalg_library("default")
    'default'
    """
    return _choice("linalg", backend, ("default", "cusolver", "magma"))


def preferred_blas_library(backend: str | None = None) -> str:
    """The library to prefer for products: keep "default", "cublas", "cublaslt" or "ck"; return the
    setting. Products go through cuBLASLt whatever it says.

    >>> taeda.backends.cuda.preferred_blas_library("cublaslt")
    'cublaslt'
    >>> taeda.backends.cuda.preferred_blas_library("default")
    'default'
    """
    return _choice("blas", backend, ("default", "cublas", "cublaslt", "hipblaslt", "ck"))


def preferred_rocm_fa_library(backend: str | None = None) -> str:
    """The library that ROCm would prefer for attention: keep "default", "aotriton" or "ck"; return
    the setting.

    >>> taeda.backends.cuda.preferred_rocm_fa_library("ck")
    'ck'
    >>> taeda.backends.cuda.preferred_rocm_fa_library("default")
    'default'
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
