"""Derivatives of random operators: samples do not depend on what they overwrite, dropout is a product."""

from __future__ import annotations

import taeda
from taeda import Tensor

from ._registry import forward, not_differentiable, rule, rule_as_is

# ---- samples: the gradient of what was there, or of a parameter of the distribution, is zero ----
for _name in (
    *("uniform_", "normal_", "log_normal_", "exponential_", "cauchy_", "geometric_"),
    *("random_", "random_.to", "random_.from", "bernoulli_.float", "bernoulli", "bernoulli.p"),
    "poisson",
):
    rule_as_is(_name, self=lambda: None)
rule("bernoulli_.Tensor", self=lambda: None, p=lambda: None)
rule("normal.Tensor_Tensor", mean=lambda: None, std=lambda: None)
rule("normal.Tensor_float", mean=lambda: None)
rule("normal.float_Tensor", std=lambda: None)

for _name in ("rand_like", "randn_like", "randint_like", "randint_like.low_dtype"):
    not_differentiable(_name, "takes only the shape of its argument")
not_differentiable("multinomial", "returns indices")
rule("binomial", count=lambda: None, prob=lambda: None)
rule(
    "_standard_gamma",
    self=lambda grad, self, result: grad * taeda._standard_gamma_grad(self, result),
)
not_differentiable("_standard_gamma_grad", "is a derivative that has none of its own here")


# ---- dropout ----
def _dropout(grad: Tensor, result1: Tensor, p: float, train: bool | None) -> Tensor:
    scale = 1.0 if train is False or p == 0 else 0.0 if p == 1 else 1 / (1 - p)
    return taeda.native_dropout_backward(grad, result1, scale)


rule_as_is("native_dropout", input=_dropout, differentiable_results=1)
rule_as_is(
    "native_dropout_backward",
    grad_output=lambda grad, mask, scale: taeda.native_dropout_backward(grad, mask, scale),
)
forward(
    "native_dropout",
    lambda input_t, result1, p, train: (_dropout(input_t, result1, p, train), None),
)
