"""Functions that give 0 for 0."""

from __future__ import annotations

import pytest

import taeda
from taeda.sparse.rules.elementwise import LINEAR, ZERO_PRESERVING, _function


@pytest.mark.parametrize("name", [*LINEAR, *ZERO_PRESERVING])
def test_these_give_zero_for_zero(name):
    assert _function(name)(taeda.zeros(1)).item() == 0
