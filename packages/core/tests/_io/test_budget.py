"""How much memory the objects in a file may take."""

from __future__ import annotations

import pytest

from taeda._io.budget import Budget, is_long
from taeda._io.safetensors import FormatError

LEAST = 16 << 20


@pytest.mark.parametrize(
    ("file", "description", "limit"),
    [(0, 0, LEAST), (100, 10, 100 + LEAST), (100, 1 << 20, 100 + 38 * (1 << 20))],
)
def test_the_limit_is_in_proportion_to_what_describes(file, description, limit):
    budget = Budget(file, description)
    budget.spend(limit)
    with pytest.raises(FormatError, match=f"more than {limit} bytes of memory; it has {file}"):
        budget.spend(1)


def test_more_description_allows_more():
    budget = Budget(0)
    budget.spend(LEAST)
    budget.describe(1 << 20)
    budget.spend(22 << 20)
    assert budget.limit == 38 << 20


def test_what_is_long_is_looked_through_first():
    assert not is_long(1000, 0) and not is_long(LEAST // 38, 0)
    assert is_long(LEAST // 38 + 1, 0) and not is_long(LEAST // 38 + 1, 38)
