"""First and second derivatives of softmax."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, uniform

REDUCTIONS = {
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(1),
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions_of_one_matrix(name):
    both_orders(REDUCTIONS[name], uniform(3, 4))
