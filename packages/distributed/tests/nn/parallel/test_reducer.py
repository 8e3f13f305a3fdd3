"""Random programs: each gradient is the mean of what single processes give, or every rank raises."""

from __future__ import annotations

from collections import Counter

import pytest
from ddp_random import Program, wrong


@pytest.mark.parametrize("size", [2, 3])
def test_gradients_are_means_or_all_ranks_raise(size):
    outcomes = Counter()
    for seed in range(60):
        program = Program.made(seed, size)
        said = wrong(program)
        assert not said or said.startswith("refused: "), f"{program}: {said}"
        outcomes["refused" if said else "means"] += 1
    assert outcomes["means"] > 40 and outcomes["refused"] > 3, outcomes
