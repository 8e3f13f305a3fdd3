"""Weights whose columns (or rows) stay orthonormal while what stands behind them is trained freely.

A skew-symmetric matrix A gives an orthogonal one by exp(A) or by Cayley's map (I - A/2)^-1 (I +
A/2); reflections give one as their product. With trivialization the result is multiplied by a fixed
orthogonal base: M. Lezcano-Casado, "Trivializations for Gradient-Based Optimization on Manifolds",
2019.
"""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ..modules.module import Module
from . import parametrize

__all__ = ["orthogonal"]

_MAPS = ("matrix_exp", "cayley", "householder")


def orthogonal(
    module: Any,
    name: str = "weight",
    orthogonal_map: str | None = None,
    *,
    use_trivialization: bool = True,
) -> Any:
    """Keep a weight orthogonal (unitary, if complex): columns if it is tall, rows if it is wide; of
    more dimensions, each matrix.

    `orthogonal_map` is "matrix_exp" (default for square and complex weights), "cayley" or
    "householder" (default for others). With `use_trivialization` the weight begins as it is, or as
    its orthogonal factor. ValueError for no tensor of that name, for less than two dimensions, for
    another map, and for reflections of a complex weight.

    Args:
        module: the module that has the tensor.
        name: name of its parameter ("weight").
        orthogonal_map: name of the map (None: by the shape).
        use_trivialization: whether the weight begins at its present value (True).

    Lezcano-Casado (arXiv:1909.09501).

    >>> layer = taeda.nn.utils.parametrizations.orthogonal(taeda.nn.Linear(2, 2))
    >>> taeda.allclose(layer.weight @ layer.weight.T, taeda.eye(2), atol=1e-5)
    True
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions."
        )
    if orthogonal_map is None:
        square = weight.shape[-2] == weight.shape[-1]
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    if orthogonal_map not in _MAPS:
        raise ValueError(f'orthogonal_map has to be one of {_MAPS}. Got: "{orthogonal_map}"')
    if orthogonal_map == "householder" and weight.is_complex():
        raise ValueError("The householder parametrization does not support complex tensors.")
    made = _Orthogonal(weight, orthogonal_map, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, made, unsafe=True)
    return module


class _Orthogonal(Module):
    base: Tensor | None

    def __init__(self, weight: Tensor, orthogonal_map: str, *, use_trivialization: bool) -> None:
        super().__init__()
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    @property
    def _trivializes(self) -> bool:
        return "base" in self._buffers

    def forward(self, free: Tensor) -> Tensor:
        tall = free.mT if free.size(-2) < free.size(-1) else free
        made = _reflections(tall) if self.orthogonal_map == "householder" else self._by_skew(tall)
        if self._trivializes and self.base is not None:
            made = self.base @ made
        return made if tall is free else made.mT

    def _by_skew(self, tall: Tensor) -> Tensor:
        rows, columns = tall.shape[-2:]
        half = tall.tril()
        if rows != columns:
            half = taeda.cat([half, half.new_zeros(*half.shape[:-1], rows - columns)], dim=-1)
        skew = half - half.mH
        if self.orthogonal_map == "matrix_exp":
            whole = taeda.matrix_exp(skew)
        else:
            one = taeda.eye(rows, dtype=skew.dtype, device=skew.device)
            whole = taeda.linalg.solve(one - skew / 2, one + skew / 2)
        return whole[..., :columns]

    def right_inverse(self, wanted: Tensor) -> Tensor:
        """What stands behind a weight; what is not orthogonal is replaced by its orthogonal factor."""
        if wanted.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {wanted.shape}."
            )
        with taeda.no_grad():
            return self._inverse(wanted)

    def _inverse(self, wanted: Tensor) -> Tensor:
        tall = wanted.mT if wanted.size(-2) < wanted.size(-1) else wanted
        if not self._trivializes:
            behind = self._behind(tall)
            return behind if tall is wanted else behind.mT
        self.base = _completed(tall)
        nothing_done = taeda.zeros_like(wanted)  # every map gives the identity for it
        nothing_done.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return nothing_done

    def _behind(self, tall: Tensor) -> Tensor:
        if self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        packed, tau = taeda.geqrf(tall)
        signs = packed.diagonal(dim1=-2, dim2=-1)
        # an empty reflection turns a sign here
        signs.copy_(taeda.where(tau == 0, -signs.sign(), signs.sign()))
        return packed


def _reflections(tall: Tensor) -> Tensor:
    """The product of the reflections along the columns below the diagonal, with the signs on the diagonal."""
    below = tall.tril(-1)
    tau = 2.0 / (1.0 + below.square().sum(-2))
    return taeda.linalg.householder_product(below, tau) * tall.diagonal(
        dim1=-2, dim2=-1
    ).sign().detach().unsqueeze(-2)


def _completed(tall: Tensor) -> Tensor:
    """A square orthogonal matrix that begins with these columns, or with what is orthogonal of them."""
    rows, columns = tall.shape[-2:]
    if rows != columns:
        more = taeda.randn(*tall.shape[:-1], rows - columns, dtype=tall.dtype, device=tall.device)
        return _factor(taeda.cat([tall, more], dim=-1))
    return tall.clone() if _is_orthogonal(tall) else _factor(tall)


def _factor(matrix: Tensor) -> Tensor:
    """Q of the QR decomposition whose R has a positive diagonal: of an orthogonal matrix, itself."""
    packed, tau = taeda.geqrf(matrix)
    signs = packed.diagonal(dim1=-2, dim2=-1).sgn()
    return taeda.linalg.householder_product(packed, tau) * signs.unsqueeze(-2)


def _is_orthogonal(matrix: Tensor) -> bool:
    size = matrix.size(-1)
    one = taeda.eye(size, dtype=matrix.dtype, device=matrix.device)
    slack = 10 * size * taeda.finfo(matrix.dtype).eps
    return bool(((matrix.mH @ matrix - one).abs() <= slack).all())
