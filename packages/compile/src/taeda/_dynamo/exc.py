"""Errors of `compile` under the names that programs catch."""

from __future__ import annotations

from taeda.compiler import BackendCompilerFailed, InvalidBackend
from taeda.compiler import Stop as Unsupported
from taeda.compiler._errors import UserError

__all__ = ["BackendCompilerFailed", "InvalidBackend", "Unsupported", "UserError"]
