"""Weight normalisation by a hook before forward, the older way; see `parametrizations.weight_norm`."""

from __future__ import annotations

from typing import Any, TypeVar

from taeda._core_api import warn

from ..parameter import Parameter
from ._norms import direction_and_length, weighted

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

M = TypeVar("M", bound=Any)


class WeightNorm:
    """The hook: computes the weight from `<name>_g` and `<name>_v`.

    >>> from taeda.nn.utils.weight_norm import weight_norm
    >>> layer = weight_norm(taeda.nn.Linear(3, 2))
    >>> [type(hook).__name__ for hook in layer._forward_pre_hooks.values()]
    ['WeightNorm']
    >>> layer.weight_g.shape
    taeda.Size([2, 1])
    """

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = self._computes = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight of now."""
        length, direction = (getattr(module, f"{self.name}_{s}") for s in "gv")
        return weighted(direction, length, self.dim)

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: M, name: str = "weight", dim: int | None = 0) -> M:
    """Replace a weight by its length `<name>_g` and its direction `<name>_v`.

    Raises RuntimeError if that was done already.

    Args:
        module: the module that has the tensor.
        name: name of its parameter ("weight").
        dim: the dimension each index of which has a length of its own (0); None: one length for
            all.

    Salimans and Kingma (arXiv:1602.07868).

    >>> layer = weight_norm(taeda.nn.Linear(2, 2))
    >>> sorted(dict(layer.named_parameters()))
    ['bias', 'weight_g', 'weight_v']
    """
    warn(
        "`nn.utils.weight_norm` is deprecated in favor of `nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
    )
    if _find(module, name) is not None:
        raise RuntimeError(f"Cannot register two weight_norm hooks on the same parameter {name}")
    hook = WeightNorm(name, dim)
    weight = getattr(module, name)
    direction, length = direction_and_length(weight, hook.dim)
    del module._parameters[name]
    module.register_parameter(f"{name}_g", Parameter(length.data))
    module.register_parameter(f"{name}_v", Parameter(direction.data))
    setattr(module, name, hook.compute_weight(module))
    module.register_forward_pre_hook(hook)
    return module


def remove_weight_norm(module: M, name: str = "weight") -> M:
    """Make the weight a parameter again, with its present value. Raises ValueError if it was none.

    Args:
        module: the module that has the tensor.
        name: name of its parameter ("weight").

    >>> layer = remove_weight_norm(weight_norm(taeda.nn.Linear(2, 2)))
    >>> sorted(dict(layer.named_parameters()))
    ['bias', 'weight']
    """
    key = _find(module, name)
    if key is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    weight = module._forward_pre_hooks.pop(key).compute_weight(module)
    delattr(module, name)
    for suffix in "gv":
        del module._parameters[f"{name}_{suffix}"]
    setattr(module, name, Parameter(weight.data))
    return module


def _find(module: Any, name: str) -> int | None:
    hooks = module.__dict__.get("_forward_pre_hooks", {})
    return next((k for k, h in hooks.items() if isinstance(h, WeightNorm) and h.name == name), None)
