"""What tests of several files about modules need."""

from __future__ import annotations

import pytest


@pytest.fixture
def handles():
    """Global hooks of a test, taken off after it."""
    kept = []
    yield kept
    for handle in kept:
        handle.remove()
