"""What `export` raises."""

from __future__ import annotations

__all__ = ["OnnxExporterError"]


class OnnxExporterError(RuntimeError):
    """A program has no ONNX model, or its model gives other numbers."""
