"""A tensor, a direction and an open level, for tests of forward mode."""

from __future__ import annotations

import pytest
from duals import values

from taeda.autograd.forward_ad import dual_level


@pytest.fixture
def x():
    return values(1, 2, 3)


@pytest.fixture
def t():
    return values(1, 10, 100)


@pytest.fixture
def level():
    with dual_level() as number:
        yield number
