"""Programs that travel: a module and a call of it as a graph of operators, in a file that is data.

>>> import taeda
>>> from taeda import nn
>>> ep = export(nn.Linear(3, 2), (taeda.ones(4, 3),), dynamic_shapes=({0: Dim("batch")},))
>>> print(ep.graph_signature.user_inputs, ep.range_constraints["s0"])
('input_1',) ValueRanges(lower=1, upper=inf)
"""

from __future__ import annotations

from . import decomp_utils, dynamic_shapes, exported_program, graph_signature, passes
from ._dataclasses import register_dataclass
from ._draft import draft_export
from ._export import export
from ._files import load, save
from .dynamic_shapes import AdditionalInputs, Constraint, Dim, ShapesCollection, dims
from .exported_program import (
    ExportedProgram,
    ModuleCallEntry,
    ModuleCallSignature,
    default_decompositions,
)
from .graph_signature import ExportBackwardSignature, ExportGraphSignature
from .unflatten import FlatArgsAdapter, UnflattenedModule, unflatten

__all__ = [
    "AdditionalInputs",
    "Constraint",
    "Dim",
    "ExportBackwardSignature",
    "ExportGraphSignature",
    "ExportedProgram",
    "FlatArgsAdapter",
    "ModuleCallEntry",
    "ModuleCallSignature",
    "ShapesCollection",
    "UnflattenedModule",
    "decomp_utils",
    "default_decompositions",
    "dims",
    "draft_export",
    "dynamic_shapes",
    "export",
    "exported_program",
    "graph_signature",
    "load",
    "passes",
    "register_dataclass",
    "save",
    "unflatten",
]
