"""Sums, means, extremes and tests along axes, against numpy."""

from __future__ import annotations

import pytest
from array_api_cases import cases_of, check, plain_of


@pytest.mark.parametrize(("dtype", "text"), cases_of("reduction") + plain_of("reduction"))
@pytest.mark.filterwarnings("ignore")
def test_same_as_numpy(dtype, text):
    check(dtype, text)
