"""vmap of fake quantization."""

from __future__ import annotations

import pytest
from vmap_of_rows import BY_RULES, check_family

import taeda
from taeda.func import vmap


@pytest.mark.parametrize("family", BY_RULES["fake_quantize"])
def test_every_row_is_its_loop(family):
    check_family(family)


def test_an_observer_that_samples_share_is_refused():
    on, state = taeda.ones(1), [taeda.tensor([-1.0]), taeda.tensor([1.0]), taeda.ones(1)]
    zero = taeda.zeros(1, dtype=taeda.int32)

    def observe(x):
        return taeda.fused_moving_avg_obs_fake_quant(x, on, on, *state, zero, 0.01, 0, 255, 0)

    with pytest.raises(RuntimeError, match="the same for all samples"):
        vmap(observe)(taeda.ones(3, 2))
    assert state[0].item() == -1
