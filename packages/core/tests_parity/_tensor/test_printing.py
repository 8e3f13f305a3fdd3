"""Tensors drawn at random print as torch prints them, under every print option."""

from __future__ import annotations

import random

import pytest
from both import FULL
from by_path import load

torch = pytest.importorskip("torch")
from parity import to_taeda  # noqa: E402 - needs torch

import taeda  # noqa: E402 - after the check: without torch there is nothing to compare

drawn = load("packages/core/tests_parity/drawn.py")
COUNT = 5000 if FULL else 500
OPTIONS = (
    *[{}] * 3, {"precision": 2}, {"precision": 8}, {"threshold": 5},
    {"threshold": 5, "edgeitems": 1}, {"linewidth": 40}, {"sci_mode": True},
    {"sci_mode": False}, {"profile": "short"}, {"profile": "full"}, {"linewidth": 120, "precision": 6},
)  # fmt: skip
KINDS = {
    "small": lambda r: r.uniform(-3, 3),
    "whole": lambda r: float(r.randint(-50, 1000)),
    "large": lambda r: r.uniform(-1, 1) * 10 ** r.randint(3, 12),
    "tiny": lambda r: r.uniform(-1, 1) * 10 ** -r.randint(3, 12),
    "mixed": lambda r: r.uniform(-1, 1) * 10 ** r.randint(-6, 6),
    "few": lambda r: r.choice((0.0, 1e-5, 1e8, -3.5, 12345.678)),
    "special": lambda r: r.choice((float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1.5, 1e6)),
}


def filled(r, shape, dtype):
    count, kind = torch.Size(shape).numel(), getattr(torch, dtype)
    if dtype == "bool":
        return torch.tensor([r.random() < 0.5 for _ in range(count)]).reshape(shape)
    if dtype in drawn.WHOLE:
        limit = min(10 ** r.randint(0, 9), torch.iinfo(kind).max)
        low = max(-limit, torch.iinfo(kind).min)
        return torch.tensor([r.randint(low, limit) for _ in range(count)], dtype=kind).reshape(
            shape
        )
    draw = KINDS[r.choice(list(KINDS))]
    x, y = (torch.tensor([draw(r) for _ in range(count)]).double().reshape(shape) for _ in "xy")
    return (torch.complex(x, y) if dtype in drawn.COMPLEX else x).to(kind)


@pytest.fixture
def default_options():
    yield
    for lib in (torch, taeda):
        lib.set_printoptions(profile="default")


def texts(x):
    """Every text of a tensor; a 0-dim one has formats as a number has."""
    formats = [f"{x:.3f}"] if x.dim() == 0 and not x.is_complex() else []
    return [repr(x), str(x), f"{x}", *formats]


@pytest.mark.usefixtures("default_options")
def test_printing():
    large = [(1001,), (40, 50), (1200, 2), (3, 400), (2, 600, 1)]
    for seed in range(COUNT):
        r = random.Random(seed)
        shape = drawn.shape(r, 0, 4, "0123457") if r.random() < 0.9 else r.choice(large)
        theirs = drawn.lay_out(r, filled(r, shape, r.choice(drawn.DTYPES)))
        ours, options = to_taeda(theirs), r.choice(OPTIONS)
        if r.random() < 0.2 and (theirs.is_floating_point() or theirs.is_complex()):
            theirs, ours = (x.clone().requires_grad_() for x in (theirs, ours))
        for lib in (torch, taeda):
            lib.set_printoptions(profile="default")
            lib.set_printoptions(**options)
        expected = [text.replace("torch", "taeda") for text in texts(theirs)]
        assert texts(ours) == expected, f"seed {seed}, {options}"
