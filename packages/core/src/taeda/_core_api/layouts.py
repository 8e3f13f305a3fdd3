"""What rules of a layout are written with."""

from __future__ import annotations

from taeda._layers.layout_rules import (
    arguments_by_name,
    dimension,
    operator,
    register,
    require_plain,
)
from taeda._layers.written import Source, check_source, check_writes, version_of, writes

__all__ = [
    "Source",
    "arguments_by_name",
    "check_source",
    "check_writes",
    "dimension",
    "operator",
    "register",
    "require_plain",
    "version_of",
    "writes",
]
