"""Derivatives of products of matrices: the gradient times the other factor's adjoint."""

from __future__ import annotations

from collections.abc import Callable

import taeda
from taeda import Tensor
from taeda._core_api.operators import nn as _nn
from taeda._core_api.operators import widened

from ._registry import forward, multilinear, not_differentiable
from ._registry import rule_as_is as rule
from ._registry import rule_joint_as_is as rule_joint

Number = bool | int | float | complex


def _adjoint(x: Tensor) -> Tensor:
    return x.transpose(-2, -1).conj()


def _scaled(x: Tensor, by: Number) -> Tensor:
    """`x` times the conjugate of a scalar argument."""
    if isinstance(by, complex):
        return x * by.conjugate()
    return x if by == 1 else x * by


rule(
    "mm",
    self=lambda grad, mat2: taeda.mm(grad, _adjoint(mat2)),
    mat2=lambda grad, self: taeda.mm(_adjoint(self), grad),
)
rule(
    "bmm",
    self=lambda grad, mat2: taeda.bmm(grad, _adjoint(mat2)),
    mat2=lambda grad, self: taeda.bmm(_adjoint(self), grad),
)
rule(
    "mv",
    self=lambda grad, vec: taeda.outer(grad, vec.conj()),
    vec=lambda grad, self: taeda.mv(_adjoint(self), grad),
)
rule(
    "dot",
    self=lambda grad, tensor: grad * tensor.conj(),
    tensor=lambda grad, self: grad * self.conj(),
)


def _times(product: Callable[..., Tensor], a: Tensor, b: Tensor, alpha: Number) -> Tensor:
    """alpha times a product, which is not rounded to 16 bits in between."""
    return product(a, b) if alpha == 1 else _scaled(product(widened(a), widened(b)), alpha)


rule(
    "addmm",
    self=lambda grad, beta: _scaled(grad, beta),
    mat1=lambda grad, mat2, alpha: _times(taeda.mm, grad, _adjoint(mat2), alpha),
    mat2=lambda grad, mat1, alpha: _times(taeda.mm, _adjoint(mat1), grad, alpha),
)
rule(
    "addmv",
    self=lambda grad, beta: _scaled(grad, beta),
    mat=lambda grad, vec, alpha: _times(taeda.outer, grad, vec.conj(), alpha),
    vec=lambda grad, mat, alpha: _times(taeda.mv, _adjoint(mat), grad, alpha),
)
rule(
    "baddbmm",
    self=lambda grad, beta: _scaled(grad, beta),
    batch1=lambda grad, batch2, alpha: _times(taeda.bmm, grad, _adjoint(batch2), alpha),
    batch2=lambda grad, batch1, alpha: _times(taeda.bmm, _adjoint(batch1), grad, alpha),
)


# ---- any ranks ----


def _rows(x: Tensor) -> Tensor:
    """All dimensions but the last as one."""
    return x if x.dim() == 2 else x.reshape(x.numel() // max(x.shape[-1], 1), x.shape[-1])


def _left(grad: Tensor, other: Tensor, vector: bool) -> Tensor:
    """Gradient of the first factor: a vector stands for a row, `other` alone for a column."""
    if other.dim() == 1:
        return grad.unsqueeze(-1) * other.conj()
    if not vector:
        return taeda.matmul(grad, _adjoint(other))
    return taeda.matmul(grad.unsqueeze(-2), _adjoint(other)).squeeze(-2)


def _right(grad: Tensor, self: Tensor, vector: bool, shared: bool) -> Tensor:
    """Gradient of the second factor; `shared`: it is one matrix for a whole batch."""
    if vector:
        if self.dim() == 1:
            return grad * self.conj()
        return taeda.matmul(_adjoint(self), grad.unsqueeze(-1)).squeeze(-1)
    if self.dim() == 1:
        return self.conj().unsqueeze(-1) * grad.unsqueeze(-2)
    if shared and self.dim() > 2 and self.numel() and grad.numel():
        return taeda.mm(_adjoint(_rows(self)), _rows(grad))
    return taeda.matmul(_adjoint(self), grad)


rule(
    "matmul",
    self=lambda grad, other, self_shape: _left(grad, other, len(self_shape) == 1),
    other=lambda grad, self, other_shape: _right(
        grad, self, len(other_shape) == 1, len(other_shape) == 2
    ),
)


def _linear_weight(grad: Tensor, input: Tensor, weight_shape: tuple[int, ...]) -> Tensor:
    if len(weight_shape) == 1:
        return (grad.unsqueeze(-1) * input.conj()).sum(list(range(input.dim() - 1)))
    if input.dim() == 1:
        return taeda.outer(grad, input.conj())
    if input.numel() == 0 or grad.numel() == 0:
        return taeda.zeros(weight_shape, dtype=grad.dtype, device=grad.device)
    return taeda.mm(_rows(grad).t(), _rows(input).conj())


@rule_joint("linear")
def _linear(
    grads: tuple[Tensor],
    needs: tuple[bool, ...],
    input: Tensor,
    weight: Tensor,
    weight_shape: tuple[int, ...],
) -> tuple[Tensor | None, ...]:
    (grad,) = grads
    by_input = by_weight = None
    if needs[0]:
        one_column = weight.dim() == 1
        by_input = grad.unsqueeze(-1) * weight.conj() if one_column else grad.matmul(weight.conj())
    if needs[1]:
        by_weight = _linear_weight(grad, input, weight_shape)
    return by_input, by_weight, grad if needs[2] else None


# ---- tangents: products change by one factor at a time ----
multilinear("mm", "bmm", "mv", "dot", "matmul")
not_differentiable("_int_mm", "int8 numbers have no gradients")


def _sum(*parts: Tensor | None) -> Tensor | None:
    total = None
    for part in parts:
        if part is not None:
            total = part if total is None else total + part
    return total


def _product_forward(
    product: Callable[[Tensor, Tensor], Tensor],
    factors: tuple[Tensor, Tensor],
    tangents: tuple[Tensor | None, Tensor | None],
    self_t: Tensor | None,
    beta: Number,
    alpha: Number,
) -> Tensor | None:
    """Of beta · self + alpha · product of the factors."""
    (a, b), (a_t, b_t) = factors, tangents
    of_a = None if a_t is None else product(a_t, b) * alpha
    of_b = None if b_t is None else product(a, b_t) * alpha
    return _sum(None if self_t is None else self_t * beta, of_a, of_b)


forward(
    "addmm",
    lambda self_t, mat1, mat1_t, mat2, mat2_t, beta, alpha: _product_forward(
        taeda.mm, (mat1, mat2), (mat1_t, mat2_t), self_t, beta, alpha
    ),
)
forward(
    "addmv",
    lambda self_t, mat, mat_t, vec, vec_t, beta, alpha: _product_forward(
        taeda.mv, (mat, vec), (mat_t, vec_t), self_t, beta, alpha
    ),
)
forward(
    "baddbmm",
    lambda self_t, batch1, batch1_t, batch2, batch2_t, beta, alpha: _product_forward(
        taeda.bmm, (batch1, batch2), (batch1_t, batch2_t), self_t, beta, alpha
    ),
)
forward(
    "linear",
    lambda input, input_t, weight, weight_t, bias_t: _product_forward(
        _nn.linear, (input, weight), (input_t, weight_t), bias_t, 1, 1
    ),
)
