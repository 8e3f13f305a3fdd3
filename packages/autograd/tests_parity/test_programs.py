"""Random programs of views, writes in place, modes, hooks and two derivatives have torch's values
and gradients.
"""

from __future__ import annotations

import pytest
import torch
from both import FULL
from graph_programs import difference, draw, shortened, text

import taeda
import taeda.autograd

pytestmark = pytest.mark.filterwarnings("ignore")
GROUP = 100


@pytest.mark.parametrize("group", range(100 if FULL else 5))
def test_random_programs(group):
    for seed in range(group * GROUP, (group + 1) * GROUP):
        steps = draw(seed)
        if difference(steps, taeda, torch) is None:
            continue
        steps = shortened(steps, lambda some: difference(some, taeda, torch))
        pytest.fail(f"program {seed}:\n{text(steps)}\n{difference(steps, taeda, torch)}")
