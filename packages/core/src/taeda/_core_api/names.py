"""What the library is called in text: "torch" once `taeda.install_as_torch` was called."""

from taeda._tensor.legacy_types import library_name

__all__ = ["library_name"]
