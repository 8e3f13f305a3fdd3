"""Names of the modules that run, forwards and backwards."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn
from taeda.utils.module_tracker import ModuleTracker


class Notes(taeda.autograd.Function):
    @staticmethod
    def forward(ctx, x, note):
        ctx.note = note
        note()
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        ctx.note()
        return gradient * 2, None


class Noting(nn.Module):
    def __init__(self, note):
        super().__init__()
        self.note = note

    def forward(self, x):
        return Notes.apply(x, self.note)


def test_places_on_both_ways():
    seen = []

    def note():
        seen.append((sorted(tracker.parents), tracker.is_bw))

    model = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU(), Noting(note)))
    with ModuleTracker() as tracker:
        y = model(taeda.ones(1, 2, requires_grad=True)).sum()
        note()
        y.backward()
        note()
    inside = ["Global", "Sequential", "Sequential.1", "Sequential.1.1"]
    assert seen == [(inside, False), (["Global"], False), (inside, True), (["Global"], False)]
    model(taeda.ones(1, 2))
    assert seen[-1] == (["Global"], False)


def test_an_error_leaves_the_module_too():
    class Fails(nn.Module):
        def forward(self, x):
            raise KeyError("here")

    with ModuleTracker() as tracker:
        with pytest.raises(KeyError):
            Fails()(taeda.ones(1))
        assert tracker.parents == {"Global"}
