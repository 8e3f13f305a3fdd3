"""Tests of real processes need the engine, which is the extra `mpi`; they say so where it is missing."""

from __future__ import annotations

import importlib.util

import pytest


@pytest.fixture(scope="session")
def mpi():
    """The engine is installed, or the test is skipped with the reason."""
    if importlib.util.find_spec("mpi4py") is None:
        pytest.skip("the engine is not installed: pip install mpi4py mpich")
