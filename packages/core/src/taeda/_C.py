# ruff: noqa: N999 - the name that programs of the field expect
"""Entry points of the core under the name that programs of the field expect; `_nn` holds the
operations of nn.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from ._core_api.operators import nn as _operators
from ._layers import DisableTorchFunction, DisableTorchFunctionSubclass
from ._layers.dispatch import disabled_torch_function as _disabled_torch_function_impl
from ._native import core as _core

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "_TensorMeta",
    "_disabled_torch_dispatch_impl",
    "_disabled_torch_function_impl",
    "_get_accelerator",
    "_get_tracing_state",
    "_log_api_usage_once",
    "_nn",
]

_nn = ModuleType(f"{__name__}._nn", "The operations of nn, which pickles find here.")
vars(_nn).update(vars(_operators))
sys.modules[_nn.__name__] = _nn

#: as `__torch_dispatch__` of a class: its tensors are plain ones to every operator
_disabled_torch_dispatch_impl = _core.Tensor.__torch_dispatch__

_TensorMeta = type  # the class of Tensor, which subclasses with a metaclass of their own ask for


def _get_accelerator(check: bool | None = None) -> Any:
    """The device of the accelerator; the cpu where there is none."""
    from taeda import accelerator, device

    return accelerator.current_accelerator() or device("cpu")


def _get_tracing_state() -> None:
    """None: there is no tracer of TorchScript."""


def _log_api_usage_once(event: str) -> None:
    """Nothing: no use of anything is logged."""
