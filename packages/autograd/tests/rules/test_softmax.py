"""First and second derivatives of softmax."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, uniform

import taeda

EDGES = taeda.tensor([0, 2, 2, 3, 4])
REDUCTIONS = {
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(1),
    "_segment_softmax": lambda x: taeda._segment_softmax(x, EDGES, False),
    "its logarithm": lambda x: taeda._segment_softmax(x, EDGES, True),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions_of_one_matrix(name):
    both_orders(REDUCTIONS[name], uniform(3, 4))
