"""Every distribution and divergence against torch's: moments, densities, entropies, supports,
texts, refusals.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.distributions as their_distributions

import taeda
import taeda.distributions as our_distributions

COVARIANCE = np.array([[2.0, 0.3], [0.3, 1.0]])
#: constructor arguments; lists are tensors
CASES: list[tuple[str, tuple[Any, ...]]] = [
    *((name, ([0.1, -2.0], [1.0, 0.5])) for name in ("Normal", "Laplace", "Cauchy", "Gumbel",
        "LogNormal", "VonMises")),
    *((name, ([0.5, 2.0], [1.5, 3.0])) for name in ("Gamma", "Beta", "InverseGamma", "Kumaraswamy",
        "Weibull", "Pareto", "Uniform")),
    *((name, ([0.5, 2.0],)) for name in ("Exponential", "Chi2", "HalfNormal", "HalfCauchy",
        "Poisson", "StudentT")),
    *((name, ([0.2, 0.9],)) for name in ("Bernoulli", "Geometric", "ContinuousBernoulli")),
    *((name, ([[0.2, 0.3, 0.5], [1.0, 0.2, 1.0]],)) for name in ("Categorical", "OneHotCategorical",
        "Dirichlet")),
    ("Bernoulli", (None, [0.2, -0.5])), ("Categorical", (None, [[0.2, 0.3], [1.0, 0.0]])),
    ("FisherSnedecor", ([3.0, 5.0], [4.5, 2.0])), ("StudentT", ([3.0, 0.5], [0.0, 1.0], [1.0, 2.0])),
    ("Binomial", (5, [0.2, 0.9])), ("NegativeBinomial", ([3.0, 2.0], [0.2, 0.9])),
    ("Multinomial", (5, [[0.2, 0.8], [0.5, 0.5]])),
    ("MultivariateNormal", ([[0.0, 1.0], [2.0, 3.0]], COVARIANCE)), ("Wishart", ([3.0, 4.0], COVARIANCE)),
    ("LogisticNormal", ([[0.1, -2.0], [0.3, 1.0]], [1.0, 0.5])),
    ("LowRankMultivariateNormal", ([0.0, 1.0], [[1.0], [0.5]], [0.5, 1.0])), ("LKJCholesky", (3, [0.5, 2.0])),
]  # fmt: skip
QUESTIONS = {
    **{
        name: (lambda d, x, name=name: getattr(d, name))
        for name in ("mean", "mode", "variance", "stddev", "batch_shape", "event_shape")
    },
    **{
        name: (lambda d, x, name=name: getattr(d, name)())
        for name in ("entropy", "perplexity", "enumerate_support")
    },
    **{name: (lambda d, x, name=name: getattr(d, name)(x)) for name in ("log_prob", "cdf")},
    "icdf": lambda d, x: d.icdf(x * 0 + 0.3),
    "expand": lambda d, x: d.expand((3, *d.batch_shape)).log_prob(x[:1]),
    "text": lambda d, x: f"{d!r} {d.support!r} {d.has_rsample} {d.has_enumerate_support}".replace(
        "taeda", "torch"
    ),
    "outside": lambda d, x: d.log_prob(x * float("nan")),
}

#: what is a number here where it is NaN there (docs/parity.md)
MORE = {("Kumaraswamy", "mode"), ("Weibull", "mode")}


def made(library: Any, distributions: Any, name: str, args: tuple[Any, ...]) -> Any:
    def argument(value: Any) -> Any:
        is_data = isinstance(value, (list, np.ndarray))
        return library.tensor(np.array(value, dtype=float)) if is_data else value

    return getattr(distributions, name)(*map(argument, args))


def answer(ask: Any, *args: Any) -> Any:
    try:
        found = ask(*args)
    except (ValueError, NotImplementedError) as error:
        return type(error).__name__
    return (
        found.detach().numpy()
        if hasattr(found, "numpy") and not isinstance(found, tuple)
        else found
    )


@pytest.mark.filterwarnings("ignore:Singular sample detected")
@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize(("name", "args"), CASES, ids=[name for name, _ in CASES])
def test_answers(name, args, question):
    theirs = made(torch, their_distributions, name, args)
    ours = made(taeda, our_distributions, name, args)
    torch.manual_seed(0)
    # of a copy: asking leaves traces in the text
    x = theirs.expand(theirs.batch_shape).sample((4,)).numpy()
    wanted = answer(QUESTIONS[question], theirs, torch.tensor(x))
    found = answer(QUESTIONS[question], ours, taeda.tensor(x))
    if isinstance(wanted, np.ndarray):
        if (name, question) in MORE:
            found = np.where(np.isnan(wanted), np.nan, found)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
        assert found.shape == wanted.shape
    else:
        assert found == wanted


@pytest.mark.parametrize("question", [*QUESTIONS, "log_cdf", "log_survival_function"])
def test_generalised_pareto(question):
    """In float32: theirs computes in no other dtype."""
    ask = QUESTIONS.get(question, lambda d, x: getattr(d, question)(x))
    found, wanted = (
        answer(
            ask,
            lib.GeneralizedPareto(
                t.tensor([0.1, -2.0]), t.tensor([1.0, 0.5]), t.tensor([0.4, -0.3])
            ),
            t.tensor([[0.2, -1.9], [7.0, -1.0]]),
        )
        for t, lib in ((taeda, our_distributions), (torch, their_distributions))
    )
    if isinstance(wanted, np.ndarray):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
    else:
        assert found == wanted


@pytest.mark.parametrize("p", sorted({name for name, _ in CASES}))
def test_divergences(p):
    cases = dict(CASES)
    cases["Uniform"] = ([0.1, 0.2], [0.4, 0.5])
    for q in cases:
        pair = [
            answer(lib.kl_divergence, made(t, lib, p, cases[p]), made(t, lib, q, cases[q]))
            for t, lib in ((torch, their_distributions), (taeda, our_distributions))
            if made(t, lib, p, cases[p]).event_shape == made(t, lib, q, cases[q]).event_shape
        ]
        if pair and isinstance(pair[0], np.ndarray):
            np.testing.assert_allclose(pair[1], pair[0], rtol=1e-6, atol=1e-12, err_msg=q)
        elif pair:
            assert pair[0] == pair[1], q
