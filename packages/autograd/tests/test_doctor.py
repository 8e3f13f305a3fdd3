"""The part of `python -m taeda` that autograd has."""

from __future__ import annotations

import pytest

from taeda.autograd._doctor import CHECKS, FACTS


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_holds_and_says_what_it_found(name):
    said = CHECKS[name]()
    assert isinstance(said, str)
    assert said


def test_facts_are_texts():
    assert all(isinstance(fact(), str) for fact in FACTS.values())
