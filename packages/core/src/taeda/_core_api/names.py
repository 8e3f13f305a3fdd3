"""How text shows names of the library: as torch's once `taeda.install_as_torch` was called."""

from taeda._tensor.legacy_types import shown_name

__all__ = ["shown_name"]
