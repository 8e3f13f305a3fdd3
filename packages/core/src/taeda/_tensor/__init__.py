"""Methods of Tensor that are written in Python; the modules set them on the C type itself."""

from . import (
    absent,
    attributes,
    conversions,
    copying,
    exchange,
    layouts,
    memory,
    methods,
    protocols,
    quantized,
    subclasses,
)
from ._method import Tensor

__all__ = [
    "absent",
    "attributes",
    "conversions",
    "copying",
    "exchange",
    "layouts",
    "memory",
    "methods",
    "protocols",
    "quantized",
    "subclasses",
]

Tensor.__module__ = "taeda"
