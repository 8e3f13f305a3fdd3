"""gpytorch: exact and variational Gaussian processes."""

from __future__ import annotations

from typing import Any

import gpytorch
import torch

from .given import trained

X = torch.linspace(0, 1, 20)
Y = torch.sin(6 * X)


class Exact(gpytorch.models.ExactGP):
    def __init__(self, x: Any, y: Any, likelihood: Any) -> None:
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(2.5))

    def forward(self, x: Any) -> Any:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def exact() -> Any:
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = Exact(X, Y, likelihood)
    marginal = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    losses = trained(model, lambda: -marginal(model(X), Y), steps=8, rate=0.1)
    model.eval(), likelihood.eval()
    with torch.no_grad(), gpytorch.settings.fast_pred_var():
        seen = likelihood(model(torch.linspace(0, 1, 7)))
    low, high = seen.confidence_region()
    assert seen.rsample().shape == (7,)
    return [losses, seen.mean, low, high]


class Variational(gpytorch.models.ApproximateGP):
    def __init__(self, points: Any) -> None:
        how = gpytorch.variational
        drawn = how.CholeskyVariationalDistribution(points.shape[0])
        super().__init__(how.VariationalStrategy(self, points, drawn))
        self.mean_module = gpytorch.means.ZeroMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x: Any) -> Any:
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def variational() -> Any:
    model, likelihood = Variational(X[::4].clone()), gpytorch.likelihoods.BernoulliLikelihood()
    bound = gpytorch.mlls.VariationalELBO(likelihood, model, 20)
    labels = (Y > 0).float()
    losses = trained(model, lambda: -bound(model(X), labels), steps=8, rate=0.1)
    return likelihood(model.eval()(X)).probs.shape[0] + 0 * losses[0]


def kernels() -> Any:
    k = gpytorch.kernels
    x = torch.linspace(0, 1, 12).view(6, 2)
    kinds = [
        k.RBFKernel(ard_num_dims=2),
        k.PeriodicKernel(),
        k.LinearKernel(),
        k.RQKernel(),
        k.CosineKernel(),
    ]
    kinds += [
        k.PolynomialKernel(2),
        k.SpectralMixtureKernel(2, ard_num_dims=2),
        k.RBFKernel() * k.LinearKernel(),
    ]
    kinds += [
        k.GridInterpolationKernel(k.RBFKernel(), grid_size=8, num_dims=2, grid_bounds=[(0, 1)] * 2)
    ]
    return [kind(x).to_dense() for kind in kinds]
