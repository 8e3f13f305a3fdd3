"""Helpers for tests: compare tensors with a tolerance, make tensors to compare, let disks fail (`faults`)."""

from __future__ import annotations

from ._comparison import assert_allclose, assert_close
from ._creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
