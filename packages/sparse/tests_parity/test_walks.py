"""Random walks through sparse layouts give the parts that torch gives."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
from sparse_walks import facts, take, walk  # noqa: E402

import taeda  # noqa: E402 - after the check: without torch there is nothing to compare


def _stands(library, seed):
    """The facts after each step, up to the first that is refused."""
    given, found = walk(seed), []
    now = library.tensor(given.numbers, dtype=library.float64).reshape(given.shape)
    for layout in given.layouts:
        try:
            now = take(library, now, given, layout)
        except (RuntimeError, ValueError):
            break
        found.append(facts(now))
    return found


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize("part", range(10))
def test_parts_of_walks(part):
    same = 0
    for seed in range(part * 100, part * 100 + 100):
        ours, theirs = _stands(taeda, seed), _stands(torch, seed)
        assert len(ours) >= len(theirs)  # what torch converts, we do
        for number, (a, b) in enumerate(zip(ours, theirs, strict=False)):
            assert a == b, (seed, number)
            same += 1
    assert same > 50
