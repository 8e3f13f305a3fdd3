"""einops: a backend for tensors of taeda, which it finds among the subclasses of its AbstractBackend."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import taeda

__all__ = ["register"]


def register(module: ModuleType) -> None:
    """Make the subclass, which einops sees; a reference keeps it alive."""
    base: Any = module.AbstractBackend

    class TaedaBackend(_Operations, base):  # type: ignore[misc]  # its base is known at run time only
        """einops' operations on tensors of taeda."""

    module.__dict__["TaedaBackend"] = TaedaBackend


class _Operations:
    framework_name = "taeda"

    def is_appropriate_type(self, tensor: Any) -> bool:
        return isinstance(tensor, taeda.Tensor)

    def from_numpy(self, x: Any) -> Any:
        made = taeda.from_numpy(x)
        return made.requires_grad_() if self.is_float_type(made) else made

    def to_numpy(self, x: Any) -> Any:
        return x.detach().numpy()

    def arange(self, start: int, stop: int) -> Any:
        return taeda.arange(start, stop)

    def transpose(self, x: Any, axes: Any) -> Any:
        return x.permute(axes)

    def stack_on_zeroth_dimension(self, tensors: Any) -> Any:
        return taeda.stack(tensors)

    def add_axis(self, x: Any, new_position: int) -> Any:
        return x.unsqueeze(new_position)

    def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
        sizes = [-1] * n_axes
        for position, length in sorted(pos2len.items()):
            x = x.unsqueeze(position)
            sizes[position] = length
        return x.expand(sizes)

    def tile(self, x: Any, repeats: Any) -> Any:
        return x.repeat(repeats)

    def concat(self, tensors: Any, axis: int) -> Any:
        return taeda.cat(tensors, axis)

    def is_float_type(self, x: Any) -> bool:
        return x.is_floating_point()

    def einsum(self, pattern: str, *x: Any) -> Any:
        return taeda.einsum(pattern, *x)

    def reduce(self, x: Any, operation: str, axes: Any) -> Any:
        """ "min", "max", "sum", "mean", "prod", "any" or "all" over several axes."""
        axes = tuple(axes)
        if operation in ("min", "max"):
            return getattr(x, f"a{operation}")(axes)
        if operation == "prod":
            kept = [d for d in range(x.dim()) if d not in axes]
            x = x.permute(*kept, *axes)
            return x.reshape(*x.shape[: len(kept)], math.prod(x.shape[len(kept) :])).prod(-1)
        return getattr(x, operation)(axes)
