"""The functions of `taeda.masked`, at the path that PyTorch's own help calls them by."""

from ._normalise import log_softmax, normalize, softmax, softmin
from ._reduce import amax, amin, argmax, argmin, logaddexp, logsumexp, norm, prod, sum
from ._scan import cumprod, cumsum
from ._statistics import mean, median, std, var

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean",
    "median", "norm", "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]  # fmt: skip
