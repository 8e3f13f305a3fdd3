"""What computes: `taeda.backends.mkl.is_available()` and its like answer for libraries that
programs ask about.

taeda computes on the CPU with kernels of its own, so the answers are False, except for the
processor itself. Settings of libraries that are not there (`cudnn.benchmark = True`) are kept, so
that a program may make them, and read by nobody.
"""

from . import (
    cpu,
    cuda,
    cudnn,
    cusparselt,
    mha,
    mkl,
    mkldnn,
    mps,
    nnpack,
    openmp,
    opt_einsum,
    quantized,
)

__all__ = [
    "cpu",
    "cuda",
    "cudnn",
    "cusparselt",
    "mha",
    "mkl",
    "mkldnn",
    "mps",
    "nnpack",
    "openmp",
    "opt_einsum",
    "quantized",
]
