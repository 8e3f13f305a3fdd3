import numpy as np

from ._array import on_arrays

NORMS = (None, "backward", "ortho", "forward")


@on_arrays
def fftn(a, s=None, axes=None, norm=None):
    assert norm in NORMS
    return np.fft.fftn(a, s, axes, norm)


@on_arrays
def ifftn(a, s=None, axes=None, norm=None):
    assert norm in NORMS
    return np.fft.ifftn(a, s, axes, norm)


@on_arrays
def rfftn(a, s=None, axes=None, norm=None):
    assert norm in NORMS and a.dtype.kind == "f"
    return np.fft.rfftn(a, s, axes, norm)


@on_arrays
def irfftn(a, s=None, axes=None, norm=None):
    assert norm in NORMS and a.dtype.kind == "c"
    return np.fft.irfftn(a, s, axes, norm)
