"""Ways to say which sizes of the arguments may differ from call to call."""

from __future__ import annotations

from ._collected import AdditionalInputs, ShapesCollection
from ._constraints import Constraint
from ._dims import Dim, dims
from ._fixes import refine_dynamic_shapes_from_suggested_fixes

__all__ = [
    "AdditionalInputs",
    "Constraint",
    "Dim",
    "ShapesCollection",
    "dims",
    "refine_dynamic_shapes_from_suggested_fixes",
]
