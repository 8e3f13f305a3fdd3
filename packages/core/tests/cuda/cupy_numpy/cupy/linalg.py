import cupyx
import numpy as np

from ._array import on_arrays


@on_arrays
def qr(a, mode="reduced"):
    assert mode != "raw" or a.ndim == 2, "CuPy's raw factors are those of one matrix"
    return np.linalg.qr(a, mode)


@on_arrays
def eigh(a, UPLO="L"):
    assert UPLO in ("L", "U")
    return tuple(np.linalg.eigh(a, UPLO))


@on_arrays
def eig(a):
    return tuple(np.linalg.eig(a))


@on_arrays
def eigvals(a):
    return np.linalg.eigvals(a)


@on_arrays
def eigvalsh(a, UPLO="L"):
    assert UPLO in ("L", "U")
    return np.linalg.eigvalsh(a, UPLO)


@on_arrays
def svd(a, full_matrices=True, compute_uv=True):
    return np.linalg.svd(a, full_matrices, compute_uv)


@on_arrays
def slogdet(a):
    return tuple(np.linalg.slogdet(a))


@on_arrays
def det(a):
    return np.linalg.det(a)


@on_arrays
def cholesky(a):
    """Without errstate(linalg="raise") CuPy's result is what cuSOLVER left."""
    assert cupyx.errstate.now == "raise"
    return np.linalg.cholesky(a)
