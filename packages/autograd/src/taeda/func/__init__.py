"""Transforms of functions: each takes a function and returns one that computes derivatives of it. They nest.

There is no vmap: what maps over a dimension here runs element by element.
"""

from __future__ import annotations

from ._backward import grad, grad_and_value, vjp
from ._forward import jvp, linearize
from ._jacobian import hessian, jacfwd, jacrev
from ._modules import functional_call, replace_all_batch_norm_modules_, stack_module_state

__all__ = [
    "functional_call", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize",
    "replace_all_batch_norm_modules_", "stack_module_state", "vjp",
]  # fmt: skip
