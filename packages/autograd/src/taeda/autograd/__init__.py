"""Automatic differentiation: `backward`, `grad`, grad modes, custom Functions, hooks, gradcheck.

Importing this package registers the derivative rules of all operations with the engine in core.
"""

from __future__ import annotations

import taeda as _taeda
from taeda._core_api import lazy_attributes as _lazy_attributes

from . import rules as _rules
from ._backward import backward, grad
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function
from .grad_mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from .gradcheck import GradcheckError, gradcheck, gradgradcheck
from .variable import Variable

is_grad_enabled = _taeda.is_grad_enabled

__all__ = [
    "Function",
    "GradcheckError",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_grad_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

_rules.load()

from . import forward_ad, functional, graph  # noqa: E402 - they use what stands above

__getattr__, __dir__ = _lazy_attributes(
    __name__, {"profiler": "autograd.profiler:", "profiler_util": "autograd.profiler_util:"}
)
