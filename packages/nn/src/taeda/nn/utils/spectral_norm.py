"""Spectral normalisation by a hook before forward, the older way; see `parametrizations.spectral_norm`."""

from __future__ import annotations

from typing import Any, TypeVar

import taeda
from taeda import Tensor

from ..functional import normalize
from ..parameter import Parameter
from ._norms import as_matrix, default_dim, power_step, spectrally_normalized

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]

M = TypeVar("M", bound=Any)


class SpectralNorm:
    """The hook: computes the weight from `<name>_orig` and the vectors `<name>_u`, `<name>_v`.

    >>> layer = taeda.nn.utils.spectral_norm(taeda.nn.Linear(3, 3))
    >>> [type(hook).__name__ for hook in layer._forward_pre_hooks.values()]
    ['SpectralNorm']
    """

    def __init__(self, name: str, n_power_iterations: int, dim: int, eps: float) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = self._computes = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Tensor:
        """The weight of now, after steps of the power iteration on request."""
        weight, u, v = (getattr(module, f"{self.name}_{s}") for s in ("orig", "u", "v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            # v follows the u that was kept, then u the new v; the parametrization begins with u
            power_step(matrix.t(), v, u, self.n_power_iterations, self.eps)
        # copies, for the next step may come before the backward pass of this one
        return spectrally_normalized(weight, matrix, u.clone(), v.clone())

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


class _Version:
    """Writes into the metadata of a state dict how the weight is kept in it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, module: Any, state: Any, prefix: str, local_metadata: Any) -> None:
        local_metadata.setdefault("spectral_norm", {})[f"{self.name}.version"] = 1


def spectral_norm(
    module: M,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> M:
    """Divide a weight by its largest singular value; the parameter is `<name>_orig` from now on.

    Raises RuntimeError if that was done already.

    Args:
        module: the module that has the tensor.
        name: name of its parameter ("weight").
        n_power_iterations: iterations of each training step, at least 1 (1).
        eps: least length by which vectors are divided (1e-12).
        dim: the dimension of the outputs (None: 1 for transposed convolutions, else 0).

    Miyato and others (arXiv:1802.05957).

    >>> layer = spectral_norm(taeda.nn.Linear(2, 2))
    >>> sorted(dict(layer.named_parameters()))
    ['bias', 'weight_orig']
    """
    if _find(module, name) is not None:
        raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    hook = SpectralNorm(name, n_power_iterations, default_dim(module) if dim is None else dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    with taeda.no_grad():
        matrix = as_matrix(weight, hook.dim)
        u, v = (normalize(matrix.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in matrix.shape)
    del module._parameters[name]
    module.register_parameter(f"{name}_orig", weight)
    setattr(module, name, weight.data)
    module.register_buffer(f"{name}_u", u)
    module.register_buffer(f"{name}_v", v)
    module.register_forward_pre_hook(hook)
    module._register_state_dict_hook(_Version(name))
    return module


def remove_spectral_norm(module: M, name: str = "weight") -> M:
    """Make the weight a parameter again, with its present value. Raises ValueError if it was none.

    Args:
        module: the module that has the tensor.
        name: name of its parameter ("weight").

    >>> layer = remove_spectral_norm(spectral_norm(taeda.nn.Linear(2, 2)))
    >>> sorted(dict(layer.named_parameters()))
    ['bias', 'weight']
    """
    key = _find(module, name)
    if key is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    with taeda.no_grad():
        weight = module._forward_pre_hooks.pop(key).compute_weight(module, False)
    hooks = module._state_dict_hooks
    for mark in [k for k, h in hooks.items() if isinstance(h, _Version) and h.name == name]:
        del hooks[mark]
    delattr(module, name)
    for part in ("u", "v", "orig"):
        delattr(module, f"{name}_{part}")
    module.register_parameter(name, Parameter(weight.detach()))
    return module


def _find(module: Any, name: str) -> int | None:
    hooks = module.__dict__.get("_forward_pre_hooks", {})
    return next(
        (k for k, h in hooks.items() if isinstance(h, SpectralNorm) and h.name == name), None
    )
