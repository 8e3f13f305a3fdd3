"""A thread rewrites what a tensor of a kind is made of; the call ends."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import rewritten_kinds

from taeda._native import core


@pytest.mark.parametrize("kind", rewritten_kinds.KINDS)
def test_what_says_where_elements_are_is_rewritten(kind):
    x = rewritten_kinds.KINDS[kind]()
    parts = rewritten_kinds._parts(x)
    own = [part.data_ptr() for _, part in core.parts_of(x).named()]
    assert parts
    assert all(part.data_ptr() in own for part in parts)


@pytest.mark.parametrize(
    "kinds", ["^coo (product|to_csr)", "^csr (product|row)$", "^jagged attention"]
)
def test_no_call_dies(kinds):
    assert rewritten_kinds.chosen(f"0/1 {kinds}")
    assert rewritten_kinds.main(["--kinds", kinds, "--calls", "2"]) == 0


def test_parts_are_all_together_and_each_has_every_kind():
    parts = [rewritten_kinds.chosen(f"{part}/4 ") for part in range(4)]
    assert sorted(pair for part in parts for pair in part) == sorted(rewritten_kinds.chosen("0/1 "))
    assert all({kind for kind, _ in part} == {*rewritten_kinds.KINDS} for part in parts)
