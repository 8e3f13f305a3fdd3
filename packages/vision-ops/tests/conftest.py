"""These tests run with what the package declares; see `siblings`."""

from __future__ import annotations

from siblings import pytest_runtest_call, pytest_runtest_setup

__all__ = ["pytest_runtest_call", "pytest_runtest_setup"]
