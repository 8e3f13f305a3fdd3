"""The geometric distribution."""

from laws import Counts, t
from scipy import stats

from taeda import distributions as D


class TestGeometric(Counts):
    ours = D.Geometric
    grid = ((0.3,), (0.05,), (0.99,))
    refused = ((-0.1,), (1.1,), (0.0,))
    outside = (0.5, -1.0)
    lacks = ("cdf", "icdf", "rsample", "enumerate_support")

    @staticmethod
    def theirs(probs):
        return stats.geom(probs, loc=-1)


def test_a_sure_success_needs_no_failure():
    ours = D.Geometric(t(1.0))
    assert ours.log_prob(t(0.0)).item() == 0
    assert ours.log_prob(t(1.0)).item() == -float("inf")
    assert ours.sample((20,)).max().item() == 0
