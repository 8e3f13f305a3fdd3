"""Functions of SciPy under the names that CuPy has."""

import scipy.special
from cupy._array import on_arrays

NAMES = (
    *("entr", "erfcx", "erfinv", "gammainc", "gammaincc", "gammaln", "i0", "i0e", "i1", "i1e"),
    *(
        "j0",
        "j1",
        "k0",
        "k0e",
        "k1",
        "k1e",
        "log_ndtr",
        "ndtr",
        "ndtri",
        "polygamma",
        "psi",
        "y0",
        "y1",
        "zeta",
    ),
)
globals().update({name: on_arrays(getattr(scipy.special, name)) for name in NAMES})
