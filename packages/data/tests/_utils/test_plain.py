"""Which tensors are memory and nothing else."""

from __future__ import annotations

import pytest
from every_kind import KINDS

import taeda
from taeda.utils.data._utils.plain import is_plain


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_are_made_of_others(kind):
    assert not is_plain(KINDS[kind]())


def test_plain_ones():
    assert is_plain(taeda.ones(2))
    assert is_plain(taeda.ones(2, device="meta"))
