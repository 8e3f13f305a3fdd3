"""Layers on integers, layers that are trained for them, and layers that were joined."""

from . import intrinsic, qat, quantizable, quantized

__all__ = ["intrinsic", "qat", "quantizable", "quantized"]
