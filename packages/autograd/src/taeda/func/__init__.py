"""Transforms of functions: each takes a function and returns one that computes derivatives of it,
or maps it. They nest.

>>> import taeda
>>> def loss(w, x):
...     return (w @ x).square()
>>> vmap(grad(loss), in_dims=(None, 0))(taeda.tensor([1.0, 2.0]), taeda.eye(2))  # a gradient for each sample
tensor([[2., 0.],
        [0., 4.]])
"""

from __future__ import annotations

from ._backward import grad, grad_and_value, vjp
from ._forward import jvp, linearize
from ._functionalize import functionalize
from ._jacobian import hessian, jacfwd, jacrev
from ._modules import functional_call, replace_all_batch_norm_modules_, stack_module_state
from ._vmap import debug_unwrap, vmap

__all__ = [
    "debug_unwrap", "functional_call", "functionalize", "grad", "grad_and_value", "hessian",
    "jacfwd", "jacrev", "jvp",
    "linearize", "replace_all_batch_norm_modules_", "stack_module_state", "vjp", "vmap",
]  # fmt: skip
