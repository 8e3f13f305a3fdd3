"""What the distributions folded at 0 share."""

import math

import numpy as np
import pytest
from laws import t

from taeda import distributions as D


@pytest.mark.parametrize("kind", [D.HalfNormal, D.HalfCauchy])
def test_below_zero_there_is_nothing(kind):
    ours = kind(t(2.0), validate_args=False)
    assert ours.log_prob(t(-1.0)).item() == -math.inf
    assert ours.cdf(t(0.0)).item() == 0


@pytest.mark.parametrize(("kind", "whole"), [(D.HalfNormal, D.Normal), (D.HalfCauchy, D.Cauchy)])
def test_above_zero_there_is_twice_as_much(kind, whole):
    ours, unfolded = kind(t(2.0)), whole(t(0.0), t(2.0))
    x = t(0.1, 1.0, 5.0)
    np.testing.assert_allclose(
        ours.log_prob(x).exp().numpy(), 2 * unfolded.log_prob(x).exp().numpy(), 1e-12
    )
    np.testing.assert_allclose(ours.cdf(x).numpy(), 2 * unfolded.cdf(x).numpy() - 1, 1e-12)
    np.testing.assert_allclose(
        ours.entropy().item(), unfolded.entropy().item() - math.log(2), 1e-12
    )
    np.testing.assert_allclose(ours.icdf(ours.cdf(x)).numpy(), x.numpy(), 1e-9)
    assert ours.scale.item() == 2.0
    assert ours.mode.item() == 0.0
