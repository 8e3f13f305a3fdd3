"""Activation functions, and the product of a gradient with their derivative (name_backward).

Loops: csrc/cpu/activation.c. What the API keeps in nn.functional alone has the namespace "nn".
"""

from __future__ import annotations

from ._row import op

ALL = "function method inplace out"
NN = "function inplace out"

op("sigmoid(Tensor self) -> Tensor", pointwise="float", variants=ALL, doc="1 / (1 + exp(-x)).")
op("logit(Tensor self, float? eps=None) -> Tensor", pointwise="float", variants=ALL,
   doc="Inverse of sigmoid; `eps` first clamps to [eps, 1 - eps].")
op("relu(Tensor self) -> Tensor", pointwise="same", cost=0.3, variants="function method inplace",
   doc="Negative numbers become 0.")
op("selu(Tensor self) -> Tensor", pointwise="same", variants="function inplace",
   doc="elu with the constants that keep mean and variance.")
op("celu(Tensor self, Scalar alpha=1.0) -> Tensor", pointwise="same", check="alpha_not_zero", variants=NN,
   doc="x, or alpha * (exp(x / alpha) - 1) below zero.")
op("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor", pointwise="same", cost=0.4,
   variants=NN,
   doc="`value` wherever x is not above the threshold.")
op("hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", pointwise="same", cost=0.4,
   variants="function method out",
   doc="0 within [-lambd, lambd], else x.")
op("prelu(Tensor self, Tensor weight) -> Tensor", composite=True,
   autocast="lower", doc="Negative numbers are scaled by a learnt slope, one for all or one per channel.")
op("rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, "
   "Generator? generator=None) -> Tensor", composite=True, variants="function inplace",
   doc="leaky_relu with random slopes in training, their mean otherwise.")
op("_prelu_kernel(Tensor self, Tensor weight) -> Tensor", pointwise="same", loop="prelu",
   numbers="", cost=0.4,
   variants="function", doc="prelu with a weight that broadcasts.")


def activation(schema: str, doc: str, *, variants: str = NN, cost: float = 1.0, check: str = "") -> None:
    op(schema, pointwise="same", check=check, namespace="nn", variants=variants, cost=cost, doc=doc)


activation("relu6(Tensor self) -> Tensor", "Limited to [0, 6].", cost=0.4)
activation("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor",
           "Limited to [min_val, max_val].", cost=0.4)
activation("leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor",
           "Negative numbers are scaled by the slope.", cost=0.4)
activation("elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
           "x, or alpha * (exp(x) - 1) below zero.")
activation("gelu(Tensor self, *, str approximate='none') -> Tensor",
           "x times the normal distribution function; 'tanh' takes the usual approximation.",
           check="approximate")
activation("silu(Tensor self) -> Tensor", "x * sigmoid(x).")
activation("mish(Tensor self) -> Tensor", "x * tanh(softplus(x)).", cost=1.5)
activation("log_sigmoid(Tensor self) -> Tensor", "Logarithm of sigmoid.", variants="function out", cost=1.5)
activation("softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor",
           "log(1 + exp(beta x)) / beta; x itself beyond the threshold.", variants="function out", cost=1.5)
activation("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", "Moved towards zero by lambd.",
           variants="function out", cost=0.4,
           check="lambd")
activation("hardsigmoid(Tensor self) -> Tensor", "x / 6 + 1/2, limited to [0, 1].", cost=0.4)
activation("hardswish(Tensor self) -> Tensor", "x * hardsigmoid(x).", cost=0.4)
op("softsign(Tensor self) -> Tensor", composite=True, namespace="nn", variants="function",
   names="keep", doc="x / (1 + |x|).")
op("tanhshrink(Tensor self) -> Tensor", composite=True, namespace="nn", variants="function",
   names="keep", doc="x - tanh(x).")

# ---- their derivatives, times the incoming gradient ----


def backward(schema: str, *, cost: float = 1.0, check: str = "") -> None:
    name = schema.partition("_backward")[0]
    op(schema, pointwise="same", check=check, namespace="nn", numbers="", variants="function out", cost=cost,
       doc=f"Gradient of {name}: grad_output times its derivative.")


backward("tanh_backward(Tensor grad_output, Tensor output) -> Tensor", cost=0.5)
backward("sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor", cost=0.5)
backward("threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor", cost=0.5)
backward("hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> "
         "Tensor", cost=0.5)
backward("leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope) -> Tensor", cost=0.5)
backward("elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
         "Tensor self_or_result) -> Tensor")
backward("gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor",
         cost=2.0, check="approximate")
backward("silu_backward(Tensor grad_output, Tensor self) -> Tensor")
backward("mish_backward(Tensor grad_output, Tensor self) -> Tensor", cost=2.0)
backward("log_sigmoid_backward(Tensor grad_output, Tensor self) -> Tensor")
backward("softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor")
backward("hardshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor", cost=0.5)
backward("softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor", cost=0.5)
backward("hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor", cost=0.5)
backward("hardswish_backward(Tensor grad_output, Tensor self) -> Tensor", cost=0.5)
backward("logit_backward(Tensor grad_output, Tensor self, float? eps=None) -> Tensor", cost=1.0)
