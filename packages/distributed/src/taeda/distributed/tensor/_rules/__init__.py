"""How operators compute on parts: for each row of the op table, the ways that give the whole's numbers."""

from __future__ import annotations

from . import (
    indexing,
    joins,
    losses,
    norms,
    pointwise,
    products,
    reductions,
    shapes,
    spatial,
    views,
)
from ._call import RULES, Call, Strategy, rule

__all__ = [
    "RULES", "Call", "Strategy", "indexing", "joins", "losses", "norms", "pointwise", "products",
    "reductions", "rule", "shapes", "spatial", "views",
]  # fmt: skip
