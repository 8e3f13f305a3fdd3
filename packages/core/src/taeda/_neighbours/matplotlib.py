"""matplotlib: tensors are drawn by their values, those that require grad as well."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import taeda

__all__ = ["register"]


def register(module: ModuleType) -> None:
    """Register a converter of units, which axes ask before they draw."""
    base: Any = module.ConversionInterface

    class Converter(base):  # type: ignore[misc]  # its base is known at run time only
        """Values of a tensor as an array."""

        @staticmethod
        def convert(value: Any, unit: Any, axis: Any) -> Any:
            return value.detach().numpy() if isinstance(value, taeda.Tensor) else value

    module.__dict__["registry"][taeda.Tensor] = Converter()
