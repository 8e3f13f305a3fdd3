"""Quantization of models layer by layer, under the names that PyTorch has for it."""

from taeda._core_api import lazy_attributes

_EXPORTS = {"nn": "ao.nn:", "quantization": "ao.quantization:"}
__all__ = ["nn", "quantization"]

__getattr__, __dir__ = lazy_attributes(__name__, _EXPORTS)
