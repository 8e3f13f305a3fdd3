"""Methods of Tensor that are written in Python; the modules set them on the C type itself."""

from . import (
    attributes,
    conversions,
    copying,
    exchange,
    layouts,
    memory,
    methods,
    names,
    protocols,
    quantized,
    subclasses,
)
from ._method import Tensor

__all__ = [
    "attributes",
    "conversions",
    "copying",
    "exchange",
    "layouts",
    "memory",
    "methods",
    "names",
    "protocols",
    "quantized",
    "subclasses",
]

Tensor.__module__ = "taeda"
