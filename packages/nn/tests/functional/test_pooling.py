"""Pooling of powers refuses the power whose root there is not."""

from __future__ import annotations

import pytest

import taeda
from taeda.nn import functional as F


@pytest.mark.parametrize("pool", [F.lp_pool1d, F.lp_pool2d, F.lp_pool3d])
def test_the_power_zero_is_refused(pool):
    with pytest.raises(ValueError, match=r"norm_type .* cannot be 0"):
        pool(taeda.ones(1, 4, 4, 4, 4)[(0,) * (3 - int(pool.__name__[-2]))], 0, 2)
