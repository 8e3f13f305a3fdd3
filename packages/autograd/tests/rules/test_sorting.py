"""First and second derivatives of what sorts and chooses."""

from __future__ import annotations

import pytest
from derivative_inputs import both_orders, uniform

REDUCTIONS = {
    "median dim": lambda x: x.median(1)[0],
    "kthvalue": lambda x: x.kthvalue(2, 0)[0],
    "sort": lambda x: x.sort(1, True)[0],
    "topk": lambda x: x.topk(2, 0)[0],
}


@pytest.mark.parametrize("name", REDUCTIONS)
def test_functions_of_one_matrix(name):
    both_orders(REDUCTIONS[name], uniform(3, 4))
