"""pyro-ppl: variational inference, NUTS, predictions, effects."""

from __future__ import annotations

from typing import Any

import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.infer import MCMC, NUTS, SVI, Predictive, Trace_ELBO, TraceEnum_ELBO
from pyro.infer.autoguide import AutoGaussian, AutoNormal

from .given import again, normal

X = torch.linspace(-1, 1, 20)
Y = 2 * X + 0.5


def _line(x: Any, y: Any = None) -> Any:
    slope = pyro.sample("slope", dist.Normal(0.0, 3.0))
    base = pyro.sample("base", dist.Normal(0.0, 3.0))
    with pyro.plate("rows", len(x)):
        return pyro.sample("y", dist.Normal(slope * x + base, 0.1), obs=y)


def variational_inference() -> None:
    pyro.clear_param_store()
    guide = AutoNormal(_line)
    svi = SVI(_line, guide, pyro.optim.Adam({"lr": 0.1}), Trace_ELBO(num_particles=4))
    for _ in range(120):
        svi.step(X, Y)
    assert abs(guide.median()["slope"] - 2) < 0.2 and abs(guide.median()["base"] - 0.5) < 0.2
    drawn = Predictive(_line, guide=guide, num_samples=5)(X)
    assert drawn["y"].shape == (5, 20)


def nuts() -> None:
    kernel = NUTS(_line, jit_compile=False)
    chain = MCMC(kernel, num_samples=60, warmup_steps=40, disable_progbar=True)
    chain.run(X, Y)
    assert abs(chain.get_samples()["slope"].mean() - 2) < 0.2


def enumeration_and_guides() -> Any:
    pyro.clear_param_store()

    @pyro.infer.config_enumerate
    def mixture(data: Any) -> None:
        share = pyro.param("share", torch.tensor([0.4, 0.6]), constraint=dist.constraints.simplex)
        with pyro.plate("data", len(data)):
            which = pyro.sample("which", dist.Categorical(share))
            pyro.sample("x", dist.Normal(torch.tensor([-1.0, 1.0])[which], 1.0), obs=data)

    loss = TraceEnum_ELBO(max_plate_nesting=1).differentiable_loss(
        mixture, lambda data: None, normal(9)
    )
    loss.backward()
    guide = AutoGaussian(_line, backend="dense")
    guide(X, Y)
    return [loss, pyro.param("share").unconstrained().grad]


def effects() -> Any:
    again()
    traced = poutine.trace(
        poutine.condition(_line, data={"slope": torch.tensor(2.0), "base": torch.tensor(0.5)})
    )
    trace = traced.get_trace(X, Y)
    with poutine.scale(scale=2.0):
        twice = traced.get_trace(X, Y).log_prob_sum()
    assert pyro.infer.inspect.get_dependencies(_line, (X, Y))
    return [trace.log_prob_sum(), twice]
