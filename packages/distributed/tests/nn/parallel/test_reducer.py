"""Random programs: each gradient is the mean of what single processes give, or every rank raises."""

from __future__ import annotations

from collections import Counter

import pytest
from ddp_random import Call, Program, Turn, wrong


@pytest.mark.parametrize("size", [2, 3])
def test_gradients_are_means_or_all_ranks_raise(size):
    outcomes = Counter()
    for seed in range(60):
        program = Program.made(seed, size)
        said = wrong(program)
        assert not said or said.startswith("refused: "), f"{program}: {said}"
        outcomes["refused" if said else "means"] += 1
    assert outcomes["means"] > 40 and outcomes["refused"] > 3, outcomes


@pytest.mark.parametrize("views", [True, False])
def test_a_gradient_that_was_cleared_is_seen_before_the_mean_overwrites_it(views):
    """Where gradients lie in the buckets, a reduced bucket shows nothing of the zeros before."""
    options = {"find_unused_parameters": True, "gradient_as_bucket_view": views}
    several = {"bucket_cap_mb": 0.00012, **options}
    program = Program(seed=1, size=2, options=several, form="iterator", lengths=[3, 2])
    program.turns = [
        Turn([Call(["ab", "a"])]),
        Turn([Call(["c", "abc"])], sync=False, clear="zero"),
        Turn([Call(["bd", "d"])], clear="zero"),
    ]
    assert wrong(program).startswith("refused: join: a rank ran out of inputs")
