"""The recursion over alignments against the sum over all of them, one by one."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

import taeda
from taeda._core_api.operators import nn as _nn


def one_by_one(emitted, skips, states, steps, back):
    """Every way through the states of one sequence, whose moves are on by 0, 1, or 2 where allowed."""
    found = np.full(emitted.shape, -np.inf)
    for length in range(1, steps + 1):
        for way in itertools.product(range(states), repeat=length):
            seen = way[::-1] if back else way
            moves = [(b - a, skips[a if back else b]) for a, b in itertools.pairwise(seen)]
            if not all(by in (0, 1) or (by == 2 and may) for by, may in moves):
                continue
            if seen[0] > 1 if not back else seen[-1] < states - 2:
                continue
            first = steps - length if back else 0
            at = first if back else length - 1
            total = sum(emitted[first + k, s] for k, s in enumerate(seen))
            found[at, way[-1]] = np.logaddexp(found[at, way[-1]], total)
    return found


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("back", [False, True])
def test_is_the_sum_over_all_alignments(dtype, back):
    rng = np.random.default_rng(0)
    emitted = rng.standard_normal((4, 5, 5)).astype(dtype)
    skips = rng.integers(0, 2, (5, 5)).astype(bool)
    states, steps = [5, 3, 1, 0, 5], [4, 3, 4, 2, 0]
    got = _nn._alignments(
        *map(taeda.from_numpy, (emitted, skips)), taeda.tensor(states), taeda.tensor(steps), back
    )
    for n in range(5):
        want = one_by_one(emitted[:, n].astype("float64"), skips[n], states[n], steps[n], back)
        np.testing.assert_allclose(
            got[:, n].numpy(), want, rtol=1e-5 if dtype == "float32" else 1e-12
        )


@pytest.mark.parametrize("states", [1, 7, 8, 9, 40])
def test_states_of_any_number(states):
    """With nothing emitted and no skips, ways to a state are counted by binomials."""
    emitted = taeda.zeros(states + 3, 1, states, dtype=taeda.float64)
    count = taeda.tensor([states])
    steps = taeda.tensor([states + 3])
    ways = _nn._alignments(emitted, taeda.zeros(1, states).bool(), count, steps).exp()[:, 0].numpy()
    want = np.zeros(states)
    want[:2] = 1
    for row in ways:
        np.testing.assert_allclose(row, want, rtol=1e-12)
        want = want + np.concatenate([[0], want[:-1]])


E_, B_, I_ = taeda.zeros(2, 3, 4), taeda.ones(3, 4).bool(), taeda.zeros(3).long()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((E_.half(), B_, I_, I_), NotImplementedError, "float32 and float64, got float16"),
        ((E_[0], B_, I_, I_), RuntimeError, "(T, N, S)"),
        ((E_, B_.long(), I_, I_), RuntimeError, "(N, S) of bool"),
        ((E_, B_[:2], I_, I_), RuntimeError, "(N, S) of bool"),
        ((E_, B_, I_.float(), I_), RuntimeError, "(N) of int64"),
        ((E_, B_, I_ + 5, I_), RuntimeError, "states are 0 to 4, got 5"),
        ((E_, B_, I_, I_ - 1), RuntimeError, "steps are 0 to 2, got -1"),
    ],
)
def test_refusals(arguments, error, message):
    with pytest.raises(error, match=re.escape(message)):
        _nn._alignments(*arguments)


def test_sizes_of_nothing_and_meta():
    assert _nn._alignments(E_[:0], B_, I_, I_).shape == (0, 3, 4)
    assert (
        _nn._alignments(E_.to("meta"), B_.to("meta"), I_.to("meta"), I_.to("meta")).shape
        == E_.shape
    )
