"""Objects of PyTorch itself among the arguments of a call: what messages say of them."""

from __future__ import annotations

from taeda._layers.foreign import is_foreign, named, refuse, remark

__all__ = ["is_foreign", "named", "refuse", "remark"]
