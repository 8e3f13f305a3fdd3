"""Functions that are written in others run by their text on samples."""

from __future__ import annotations

import pytest

import taeda
from taeda.autograd.batching import _call
from taeda.autograd.batching._composed import composed
from taeda.autograd.batching._registry import Decline
from taeda.func import vmap

X = taeda.linspace(-1, 2, 24, dtype=taeda.float64).reshape(2, 3, 4)
WRITTEN = {
    "cov": taeda.cov,
    "vander": lambda x: taeda.vander(x[0], 3),
    "diff": lambda x: taeda.diff(x, dim=0),
    "rot90": lambda x: taeda.rot90(x),
    "block_diag": lambda x: taeda.block_diag(x, x[:1]),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_samples_are_mapped_and_nothing_runs_one_by_one(name, monkeypatch):
    looped = []
    run = _call.one_by_one
    monkeypatch.setattr(
        _call, "one_by_one", lambda level, key, *rest: looped.append(key) or run(level, key, *rest)
    )
    made = vmap(WRITTEN[name])(X)
    wanted = taeda.stack([WRITTEN[name](x) for x in X])
    taeda.testing.assert_close(made, wanted)
    assert not looped


def test_a_text_is_called_with_its_defaults():
    taeda.testing.assert_close(
        composed("cov", (X[0],), {"correction": 0}), taeda.cov(X[0], correction=0)
    )


@pytest.mark.parametrize(
    ("key", "args", "kwargs"),
    [("sin", (X,), {}), ("nothing", (X,), {}), ("cov", (X[0], 1, 2), {}), ("cov", (), {}),
     ("cov", (X[0],), {"input": X[0]}),
     ("cov", (X[0],), {"unknown": 1}), ("cov", ([1.0, 2.0],), {})],
)  # fmt: skip
def test_what_it_is_not_for_is_declined(key, args, kwargs):
    with pytest.raises(Decline):
        composed(key, args, kwargs)
