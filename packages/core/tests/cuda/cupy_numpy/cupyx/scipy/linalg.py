import numpy as np
import scipy.linalg
from cupy._array import on_arrays


@on_arrays
def lu_factor(a, overwrite_a=False, check_finite=True):
    """SciPy's raises or warns for what is singular; CuPy's goes on."""
    assert a.ndim == 2
    (getrf,) = scipy.linalg.get_lapack_funcs(("getrf",), (a,))
    lu, piv, info = getrf(a)
    assert info >= 0
    return lu, piv.astype(np.int32)


def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    return _lu_solve(*lu_and_piv, b, trans)


@on_arrays
def _lu_solve(lu, piv, b, trans):
    (getrs,) = scipy.linalg.get_lapack_funcs(("getrs",), (lu, b))
    x, info = getrs(lu, piv, b, trans=trans)
    assert info == 0
    return x


@on_arrays
def solve_triangular(
    a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False, check_finite=False
):
    assert a.ndim == 2
    (trtrs,) = scipy.linalg.get_lapack_funcs(("trtrs",), (a, b))
    return trtrs(a, b, lower=lower, trans=trans, unitdiag=unit_diagonal)[0]
