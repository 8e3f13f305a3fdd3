# ruff: noqa: N999 - the name that programs of the field expect
"""Entry points of the core under the name that programs of the field expect; `_nn` holds the operations of nn."""

from __future__ import annotations

import types as _types

from ._dispatch import disabled_torch_function as _disabled_torch_function_impl
from ._native import core as _core

__all__ = ["_disabled_torch_function_impl", "_nn"]

_nn = _types.SimpleNamespace(**_core.functions.get("nn", {}))
