"""How a range of numbers becomes a scale and a zero point, as fake quantization does it."""

from __future__ import annotations

from taeda._composite.fake_quantize import choose_parameters

__all__ = ["choose_parameters"]
