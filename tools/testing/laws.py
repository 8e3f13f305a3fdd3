"""A distribution of numbers against scipy's: a test file names parameters, and inherits what every
such distribution has to hold.

    class TestNormal(Continuous):
        ours, theirs = D.Normal, staticmethod(stats.norm)
        grid = ((0.5, 2.0), (-30.0, 1e-3))

Each entry of `grid` is one test case: the positional parameters of both. Everything runs in float64
from fixed seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

import taeda

__all__ = [
    "Continuous",
    "Counts",
    "chi_square",
    "follow",
    "follows",
    "quantile_moves",
    "same_jacobian",
    "t",
]

PLACES = np.array([1e-3, 0.05, 0.2, 0.5, 0.8, 0.95, 0.999])
ALPHA = 1e-3  # seeds are fixed: a right sampler fails for one seed in a thousand, then always


def t(*values: Any) -> taeda.Tensor:
    """A float64 tensor: of one number without dimensions, of several with one."""
    return taeda.tensor(values[0] if len(values) == 1 else values, dtype=taeda.float64)


def follows(sample: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray]) -> None:
    """Kolmogorov's test of a sample against the exact distribution function."""
    found = stats.kstest(np.ravel(sample), cdf)
    if not found.pvalue > ALPHA:
        raise AssertionError(f"the sample has another law: {found}")


def follow(ours: Any, laws: dict[str, tuple[Callable[..., Any], Any]], count: int = 20000) -> None:
    """Samples of vectors or matrices: what each measure finds has its exact law."""
    taeda.manual_seed(11)
    drawn = ours.sample((count,)).numpy()
    for measure, law in laws.values():
        follows(measure(drawn), law.cdf)


def chi_square(seen: np.ndarray, chances: np.ndarray) -> None:
    """Pearson's test of counts against exact chances; rare values are taken together."""
    count, wanted = seen.sum(), chances * seen.sum()
    large = wanted > 10
    seen = np.append(seen[large], count - seen[large].sum())
    wanted = np.append(wanted[large], count - wanted[large].sum())
    if wanted[-1] < 10:  # too rare to be judged apart: they join the last of the others
        seen, wanted = (
            np.append(seen[:-2], seen[-2:].sum()),
            np.append(wanted[:-2], wanted[-2:].sum()),
        )
    statistic = ((seen - wanted) ** 2 / wanted).sum()
    if not stats.chi2(max(len(seen) - 1, 1)).sf(statistic) > ALPHA:
        raise AssertionError(f"seen {seen}, wanted {wanted}")


def quantile_moves(
    make: Callable[..., Any], params: tuple[float, ...], k: int, x: np.ndarray
) -> np.ndarray:
    """How fast the quantile at each x moves with parameter `k`, by differences: what a sample's
    gradient has to be.
    """
    law, ends = make(*params), []
    step = (abs(params[k]) or float(law.ppf(0.8) - law.ppf(0.2))) * 1e-5
    upper = x > law.median()  # shares near 1 lose digits: from above there
    for sign in (1, -1):
        moved = make(*(p + sign * step * (i == k) for i, p in enumerate(params)))
        ends.append(np.where(upper, moved.isf(law.sf(x)), moved.ppf(law.cdf(x))))
    return (ends[0] - ends[1]) / (2 * step)


def same_jacobian(f: Any, x: taeda.Tensor, free: Callable[..., Any] = lambda v: v) -> None:
    """The inverse leads back, and the logarithm of the Jacobian's determinant is autograd's.
    `free` takes what moves freely.
    """
    y = f(x)
    taeda.testing.assert_close(f.inv(y), x)
    assert f.inv.inv is f
    assert f.forward_shape(x.shape) == y.shape
    assert f.inverse_shape(y.shape) == x.shape
    matrix = taeda.autograd.functional.jacobian(lambda v: free(f(v)).reshape(-1), x)
    wanted = taeda.linalg.slogdet(matrix.reshape(x.numel(), x.numel())).logabsdet.item()
    found = f.log_abs_det_jacobian(x, y)
    np.testing.assert_allclose(found.sum().item(), wanted, 1e-9, 1e-12)
    np.testing.assert_allclose(f.inv.log_abs_det_jacobian(y, x).sum().item(), -wanted, 1e-9, 1e-12)


class _Numbers:
    """What continuous distributions and counts share."""

    ours: ClassVar[Callable[..., Any]]
    theirs: ClassVar[Callable[..., Any]]
    grid: ClassVar[Iterable[tuple[float, ...]]]
    #: parameters outside of their sets
    refused: ClassVar[Iterable[tuple[float, ...]]] = ()
    #: values outside of the support of the first of the grid
    outside: ClassVar[Iterable[float]] = ()
    #: what the distribution does not offer
    lacks: ClassVar[tuple[str, ...]] = ()
    rtol: ClassVar[float] = 1e-8
    count: ClassVar[int] = 4000

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """One test for each entry of the tables."""
        if "params" in metafunc.fixturenames:
            metafunc.parametrize("params", list(self.grid), ids=str)

    def made(self, params: tuple[float, ...], shape: tuple[int, ...] = ()) -> Any:
        return type(self).ours(*(taeda.full(shape, p, dtype=taeda.float64) for p in params))

    def law(self, params: tuple[float, ...]) -> Any:
        return type(self).theirs(*params)

    def spread(self, params: tuple[float, ...]) -> float:
        """Where most of the law is: the unit of a location at 0."""
        return float(self.law(params).ppf(0.8) - self.law(params).ppf(0.2))

    def points(self, params: tuple[float, ...]) -> np.ndarray:
        raise NotImplementedError

    def log_density(self, law: Any, x: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    def test_density(self, params):
        x = self.points(params)
        found = self.made(params).log_prob(taeda.tensor(x)).numpy()
        np.testing.assert_allclose(
            found, self.log_density(self.law(params), x), self.rtol, self.rtol
        )

    def test_single_precision(self, params):
        x = self.points(params).astype(np.float32)
        ours = type(self).ours(*(taeda.tensor(p, dtype=taeda.float32) for p in params))
        found = ours.log_prob(taeda.tensor(x))
        assert found.dtype == taeda.float32
        exact = self.made(tuple(float(np.float32(p)) for p in params))
        every = (
            type(self)
            .ours(*map(t, params), validate_args=False)
            .log_prob(taeda.tensor(x.astype(np.float64)))
        )
        inside = (
            exact.support.check(taeda.tensor(x.astype(np.float64))).numpy()
            & every.isfinite().numpy()
        )
        wanted = exact.log_prob(taeda.tensor(x[inside].astype(np.float64))).numpy()
        size = 1 + np.abs(wanted).max()
        np.testing.assert_allclose(found.numpy()[inside], wanted, 2e-4, 2e-5 * size)

    def test_moments(self, params):
        ours, law = self.made(params), self.law(params)
        for name, wanted in (("mean", law.mean()), ("variance", law.var()), ("stddev", law.std())):
            if name not in self.lacks:
                np.testing.assert_allclose(
                    getattr(ours, name).item(), wanted, self.rtol, err_msg=name
                )

    def test_mode(self, params):
        """No value is likelier; NaN only where the distribution says so."""
        if "mode" in self.lacks:
            return
        ours = self.made(params)
        mode = ours.mode
        if mode.isnan():
            assert params in getattr(self, "no_mode", ()), f"no mode for {params}"
            return
        around = taeda.tensor(self.points(params))
        best = type(ours).log_prob(ours, mode if ours.support.check(mode) else mode + 1e-12)
        assert (best >= ours.log_prob(around) - 1e-9).all(), (best, ours.log_prob(around))

    def test_entropy(self, params):
        if "entropy" not in self.lacks:
            wanted = float(self.law(params).entropy())
            ours = self.made(params)
            np.testing.assert_allclose(ours.entropy().item(), wanted, 1e-6, 1e-6)
            np.testing.assert_allclose(ours.perplexity().item(), np.exp(wanted), 1e-5)

    def test_what_is_missing_says_so(self):
        ours = self.made(next(iter(self.grid)))
        for lack in set(self.lacks) - {"mode"}:
            arguments = () if lack in ("entropy", "rsample", "enumerate_support") else (t(0.5),)
            with pytest.raises(NotImplementedError, match=r"has no|does not"):
                getattr(ours, lack)(*arguments)

    def test_gradient_of_the_density(self, params):
        """By each parameter, against differences of scipy's."""
        x = self.points(params)[2:-1]  # not symmetric: nothing cancels
        leaves = [t(p).requires_grad_() for p in params]
        type(self).ours(*leaves).log_prob(taeda.tensor(x)).sum().backward()
        for k, leaf in enumerate(leaves):
            h = (abs(params[k]) or self.spread(params)) * 1e-5
            ends = [
                self.law(tuple(p + s * h * (i == k) for i, p in enumerate(params))) for s in (1, -1)
            ]
            gap = self.log_density(ends[0], x).sum() - self.log_density(ends[1], x).sum()
            if leaf.grad is not None:
                np.testing.assert_allclose(
                    leaf.grad.item(), gap / (2 * h), 1e-4, 1e-4 / max(abs(params[k]), 1e-3)
                )
            else:
                assert k in getattr(self, "counts", ()), f"no gradient to parameter {k}"

    def test_batches_and_expansion(self, params):
        ours, wide = self.made(params), self.made(params, (3, 1)).expand((2, 3, 4))
        assert wide.batch_shape == (2, 3, 4)
        assert wide.event_shape == ()
        x = taeda.tensor(self.points(params)[2:6])  # four values, along the last dimension
        taeda.testing.assert_close(wide.log_prob(x), ours.log_prob(x).expand(2, 3, 4))
        taeda.manual_seed(1)
        drawn = wide.sample((5,))
        assert drawn.shape == (5, 2, 3, 4)
        assert wide.support.check(drawn).all()
        if isinstance(self, Continuous):
            assert len(drawn.unique()) > 100

    def test_parameters_outside_are_refused(self):
        """Unless the check is left out."""
        for bad in self.refused:
            with pytest.raises(ValueError, match=r"[Ee]xpected|not defined|invalid"):
                self.made(bad)
            unchecked = type(self).ours(*map(t, bad), validate_args=False)
            assert unchecked.batch_shape == ()

    def test_values_outside_are_refused(self):
        ours = self.made(next(iter(self.grid)))
        for value in (*self.outside, math.nan):
            with pytest.raises(ValueError, match="within the support"):
                ours.log_prob(t(value))


class Continuous(_Numbers):
    """A distribution with a density."""

    #: whether a sample moves as its quantile does: one noise a sample, through a rising map
    by_quantile: ClassVar[bool] = True

    def points(self, params: tuple[float, ...]) -> np.ndarray:
        return self.law(params).ppf(PLACES)

    def log_density(self, law: Any, x: np.ndarray) -> np.ndarray:
        return law.logpdf(x)

    def test_share(self, params):
        if "cdf" not in self.lacks:
            x = self.points(params)
            found = self.made(params).cdf(taeda.tensor(x)).numpy()
            np.testing.assert_allclose(found, self.law(params).cdf(x), 1e-7, 1e-10)

    def test_inverse_of_the_share(self, params):
        if "icdf" not in self.lacks:
            found = self.made(params).icdf(taeda.tensor(PLACES)).numpy()
            np.testing.assert_allclose(found, self.law(params).ppf(PLACES), 1e-7, 1e-12)

    def test_samples_have_the_exact_law(self, params):
        taeda.manual_seed(7)
        drawn = self.made(params).sample((self.count,))
        assert drawn.dtype == taeda.float64
        assert not drawn.requires_grad
        follows(drawn.numpy(), self.law(params).cdf)

    def test_samples_move_with_the_parameters(self, params):
        """The gradient of each sample, against how its quantile moves."""
        if not self.made(params).has_rsample:
            with pytest.raises(NotImplementedError, match="no reparameterised samples"):
                self.made(params).rsample()
            return
        taeda.manual_seed(5)
        leaves = [taeda.full((40,), p, dtype=taeda.float64).requires_grad_() for p in params]
        x = type(self).ours(*leaves).rsample()
        x.sum().backward()
        for k, leaf in enumerate(leaves):
            assert leaf.grad.isfinite().all()
            if self.by_quantile:
                wanted = quantile_moves(type(self).theirs, params, k, x.detach().numpy())
                scale = np.abs(wanted).max()
                np.testing.assert_allclose(
                    leaf.grad.numpy(), wanted, 2e-3, 1e-5 * scale, err_msg=f"parameter {k}"
                )


class Counts(_Numbers):
    """A distribution over whole numbers."""

    count = 20000

    def points(self, params: tuple[float, ...]) -> np.ndarray:
        low, high = self.law(params).ppf([0.001, 0.999])
        return (
            np.unique(np.linspace(low, max(high, low + 1), 7).round())
            if high - low > 6
            else low + np.arange(7.0) % (high - low + 1)
        )

    def log_density(self, law: Any, x: np.ndarray) -> np.ndarray:
        return law.logpmf(x)

    def test_samples_have_the_exact_law(self, params):
        taeda.manual_seed(7)
        drawn = self.made(params).sample((self.count,)).numpy()
        law = self.law(params)
        k = np.arange(int(law.ppf(1e-9)), int(law.ppf(1 - 1e-9)) + 1)
        seen = np.array([(drawn == v).sum() for v in k])
        assert seen.sum() == self.count
        if len(k) > 1:
            chi_square(seen, law.pmf(k) / law.pmf(k).sum())

    def test_all_values(self, params):
        """`enumerate_support` has each value once, and their chances add up to one."""
        ours = self.made(params, (2, 1))
        if not ours.has_enumerate_support:
            with pytest.raises(NotImplementedError, match=type(ours).__name__):
                ours.enumerate_support()
            return
        every = ours.enumerate_support()
        assert every.shape[1:] == (2, 1)
        assert ours.enumerate_support(expand=False).shape == (len(every), 1, 1)
        np.testing.assert_allclose(ours.log_prob(every).exp().sum(0).numpy(), 1.0, 1e-9)
