"""What rules of a layout are written with."""

from __future__ import annotations

from taeda._layers.layout_rules import arguments_by_name, dimension, operator, register

__all__ = ["arguments_by_name", "dimension", "operator", "register"]
