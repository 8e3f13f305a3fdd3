# ruff: noqa: N999 - the name that programs of the field expect
"""Entry points of the core under the name that programs of the field expect; `_nn` holds the operations of nn."""

from __future__ import annotations

from ._core_api.operators import nn as _nn
from ._dispatch import disabled_torch_function as _disabled_torch_function_impl

__all__ = ["_disabled_torch_function_impl", "_nn"]
