"""Programs whose functions look at values to refuse them."""

from __future__ import annotations

import taeda
from taeda import nn

__all__ = ["PROGRAMS", "Program"]

F, L = nn.functional, taeda.linalg


def square(x):
    return x.mT @ x + taeda.eye(3)


def set_where(x):
    y = x.clone()
    y[x > 0] = 0.5
    return y


PROGRAMS = {
    "inv": lambda x: L.inv(square(x)),
    "cholesky": lambda x: L.cholesky(square(x)),
    "solve": lambda x: L.solve(square(x), x.mT),
    "matrix_power": lambda x: L.matrix_power(square(x), -2),
    "tensorinv": lambda x: L.tensorinv(square(x), ind=1),
    "cholesky_solve": lambda x: taeda.cholesky_solve(x.mT, L.cholesky(square(x))),
    "lu_factor": lambda x: L.lu_factor(square(x))[0],
    "ldl_factor": lambda x: L.ldl_factor(square(x))[0],
    "eig": lambda x: L.eig(square(x))[0],
    "eigvals": lambda x: L.eigvals(square(x)),
    "eigvalsh": lambda x: L.eigvalsh(square(x)),
    "svdvals": lambda x: L.svdvals(x),
    "matrix_rank": lambda x: L.matrix_rank(x),
    "pinv": lambda x: L.pinv(x),
    "cov": lambda x: taeda.cov(x.mT),
    "cov with weights": lambda x: taeda.cov(x.mT, aweights=x[:, 0].abs() + 0.1, correction=0),
    "quantile": lambda x: taeda.quantile(x, 0.3, dim=1),
    "several quantiles": lambda x: taeda.quantile(x, taeda.tensor([0.2, 0.5])),
    "nanquantile": lambda x: taeda.nanquantile(x, 0.3),
    "unravel_index": lambda x: taeda.unravel_index((x > 0).long(), (3, 4))[1],
    "one_hot": lambda x: F.one_hot((x > 0).long() + 1),
    "one_hot of 4": lambda x: F.one_hot((x > 0).long(), 4),
    "max_unpool2d": lambda x: F.max_unpool2d(
        *F.max_pool2d(x[None].repeat(1, 2, 2), 2, return_indices=True), 2
    ),
    "a mask": set_where,
    "a NaN for a mask": lambda x: taeda.where(x > 0, float("nan"), x),
}


class Program(nn.Module):
    def __init__(self, f):
        super().__init__()
        self.f = f

    def forward(self, x):
        return self.f(x)
