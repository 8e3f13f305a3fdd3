"""What `repr` shows of a layer's options."""

from __future__ import annotations

from typing import Any

__all__ = ["unusual"]


def unusual(module: Any, **usual: Any) -> list[str]:
    """ "name=value" of each attribute that is not as usual."""
    values = {name: getattr(module, name, default) for name, default in usual.items()}
    return [f"{name}={value}" for name, value in values.items() if value != usual[name]]
