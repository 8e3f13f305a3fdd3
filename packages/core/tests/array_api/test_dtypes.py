"""Kinds, limits and promotion of dtypes, against numpy."""

from __future__ import annotations

import pytest
from array_api_cases import cases_of, check, plain_of


@pytest.mark.parametrize(("dtype", "text"), cases_of("dtypes") + plain_of("dtypes"))
@pytest.mark.filterwarnings("ignore")
def test_same_as_numpy(dtype, text):
    check(dtype, text)
