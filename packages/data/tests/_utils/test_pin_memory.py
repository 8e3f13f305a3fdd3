"""What is pinned, on a machine that pretends to have an accelerator."""

from __future__ import annotations

import collections

import pytest

import taeda
from taeda.utils.data import DataLoader
from taeda.utils.data._utils.pin_memory import pin_memory

Pair = collections.namedtuple("Pair", "x y")


class Pinnable:
    pinned = False

    def pin_memory(self):
        self.pinned = True
        return self


def test_own_types_are_asked_and_others_stay():
    value = {"a": [Pinnable(), "text", 3], "b": Pair(Pinnable(), None), "c": (Pinnable(), b"x")}
    got = pin_memory(value)
    assert got["a"][0].pinned and got["a"][1:] == ["text", 3]
    assert type(got["b"]) is Pair and got["b"].x.pinned and got["b"].y is None
    assert type(got["c"]) is list and got["c"][0].pinned


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_pinned_where_there_is_an_accelerator(monkeypatch, workers):
    monkeypatch.setattr(taeda.cuda, "is_available", lambda: True)
    loader = DataLoader([Pinnable()], collate_fn=list, pin_memory=True, num_workers=workers)
    assert next(iter(loader))[0].pinned


def test_without_one_there_is_a_warning_and_nothing_is_pinned():
    with pytest.warns(UserWarning, match="no accelerator"):
        (batch,) = DataLoader([Pinnable()], collate_fn=list, pin_memory=True)
    assert not batch[0].pinned
