"""The uniform distribution."""

import pytest
from laws import Continuous, t
from scipy import stats

from taeda import distributions as D


class TestUniform(Continuous):
    ours = D.Uniform
    grid = ((-1.0, 3.0), (0.0, 1e-6), (1e3, 1e6))
    no_mode = grid  # all values are as likely
    refused = ((1.0, 0.0), (1.0, 1.0), (float("nan"), 1.0))
    outside = (-1.5, 3.5)

    @staticmethod
    def theirs(low, high):
        return stats.uniform(low, high - low)


def test_outside_of_the_bounds_nothing_is_likely():
    ours = D.Uniform(t(0.0), t(2.0), validate_args=False)
    assert ours.log_prob(t(-1.0, 0.0, 2.0, 3.0)).exp().tolist() == [0, 0.5, 0, 0]
    assert ours.cdf(t(-1.0, 0.5, 3.0)).tolist() == [0, 0.25, 1]


def test_the_message_says_which_bounds():
    with pytest.raises(ValueError, match="low>= high"):
        D.Uniform(1.0, 0.0)
