"""Joined layers on floats, with weights in integers."""

from ._layers import LinearReLU

__all__ = ["LinearReLU"]
