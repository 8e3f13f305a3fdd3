"""Ready-made parametrizations: weight norm, spectral norm, orthogonal weights."""

from __future__ import annotations

from typing import Any

import taeda
from taeda import Tensor

from ..functional import normalize
from ..modules.module import Module
from . import parametrize
from ._norms import (
    as_matrix,
    default_dim,
    direction_and_length,
    power_step,
    spectrally_normalized,
    weighted,
)
from ._orthogonal import orthogonal

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    """Length and direction apart."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, length: Tensor, direction: Tensor) -> Tensor:
        return weighted(direction, length, self.dim)

    def right_inverse(self, weight: Tensor) -> tuple[Tensor, Tensor]:
        direction, length = direction_and_length(weight, self.dim)
        return length, direction


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Train the length and the direction of a weight apart: `parametrizations.<name>.original0` and `1`.

    Lengths are for each index of `dim`, or one for all if None. State dicts with `<name>_g` and
    `<name>_v`, of the older way, can be loaded.

    Args:
        module: the module that has the tensor.
        name: name of its parameter ("weight").
        dim: the dimension each index of which has a length of its own (0); None: one length for
            all.

    Salimans and Kingma (arXiv:1602.07868).

    >>> layer = weight_norm(taeda.nn.Linear(2, 2))
    >>> sorted(dict(layer.named_parameters()))
    ['bias', 'parametrizations.weight.original0', 'parametrizations.weight.original1']
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict: dict[str, Any], prefix: str, *_: Any) -> None:
        old = [f"{prefix}{name}_{suffix}" for suffix in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """The weight by its largest singular value, which a power iteration estimates anew in each
    training step.
    """

    def __init__(
        self, weight: Tensor, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        super().__init__()
        if not -weight.dim() <= dim < weight.dim():
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{weight.dim()}, "
                f"{weight.dim() - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % weight.dim()
        self.eps = eps
        if weight.dim() == 1:
            return
        self.n_power_iterations = n_power_iterations
        matrix = as_matrix(weight, self.dim)
        with taeda.no_grad():
            u, v = (matrix.new_empty(size).normal_(0, 1) for size in matrix.shape)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            power_step(matrix, self._u, self._v, 15, eps)

    def forward(self, weight: Tensor) -> Tensor:
        if weight.dim() == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            power_step(matrix, self._u, self._v, self.n_power_iterations, self.eps)
        # copies, for the next step may come before the backward pass of this one
        u, v = self._u.clone(), self._v.clone()
        return spectrally_normalized(weight, matrix, u, v)

    def right_inverse(self, value: Tensor) -> Tensor:
        return value


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Divide a weight by its largest singular value, estimated by a power iteration.

    `dim` is that of the outputs (1 for transposed convolutions, else 0, if None). Raises ValueError for an
    unknown name.

    Args:
        module: the module that has the tensor.
        name: name of its parameter ("weight").
        n_power_iterations: iterations of each training step, at least 1 (1).
        eps: least length by which vectors are divided (1e-12).
        dim: the dimension of the outputs (None: 1 for transposed convolutions, else 0).

    Miyato and others (arXiv:1802.05957).

    >>> layer = spectral_norm(taeda.nn.Linear(2, 2))
    >>> sorted(dict(layer.named_parameters()))
    ['bias', 'parametrizations.weight.original']
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    dim = default_dim(module) if dim is None else dim
    made = _SpectralNorm(weight, n_power_iterations, dim, eps)
    parametrize.register_parametrization(module, name, made)
    return module
