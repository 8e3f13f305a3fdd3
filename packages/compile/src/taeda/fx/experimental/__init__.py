"""Graphs of operators: `proxy_tensor.make_fx`."""

from __future__ import annotations

from taeda._core_api import lazy_attributes

__getattr__, __dir__ = lazy_attributes(
    __name__,
    {name: f"fx.experimental.{name}:" for name in ("proxy_tensor", "sym_node", "symbolic_shapes")},
)
