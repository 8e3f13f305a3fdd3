"""Student's t distribution; its samples have two noises, so their gradients are judged by their mean."""

import numpy as np
import pytest
from laws import Continuous, t
from scipy import stats

from taeda import distributions as D


class TestStudentT(Continuous):
    ours, theirs = D.StudentT, staticmethod(stats.t)
    grid = ((5.0, 0.5, 2.0), (2.5, 0.0, 1.0), (1e3, -5.0, 1e-3))
    refused = ((-1.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    lacks = ("cdf", "icdf")
    by_quantile = False


def test_the_check_of_parameters_can_be_left_out():
    assert D.StudentT(t(-1.0), validate_args=False).df.item() == -1
    with pytest.raises(ValueError, match=r"parameter df .* of distribution StudentT"):
        D.StudentT(t(-1.0))


def test_moments_that_do_not_exist():
    heavy = D.StudentT(t(0.5, 1.5, 3.0))
    assert heavy.variance[0].isnan()
    assert heavy.variance[1:].tolist() == [np.inf, pytest.approx(3.0)]
    assert heavy.mean.isnan().tolist() == [True, False, False]
