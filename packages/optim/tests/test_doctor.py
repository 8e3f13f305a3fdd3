"""Optim's part of `python -m taeda`."""

from __future__ import annotations

import pytest

from taeda.optim._doctor import CHECKS, FACTS


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_holds_and_says_what_it_found(name):
    assert "exact" in CHECKS[name]()


def test_facts_are_texts():
    assert all(isinstance(fact(), str) for fact in FACTS.values())
