"""Layers that are trained for weights in integers and inputs with the scale of their own range."""

from ._layers import Linear

__all__ = ["Linear"]
