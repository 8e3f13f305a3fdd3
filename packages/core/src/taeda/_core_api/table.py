"""The op table: rows and their schemas, the Python functions behind composites."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from taeda._composite._grid_steps import PADDINGS, SAMPLE_MODES, grid_sample_by_steps
from taeda._composite.attention import attention_weights
from taeda._library.operators import schema_of
from taeda._library.schema import default_object
from taeda._table._row import Row
from taeda._table._schema import Argument

__all__ = [
    "PADDINGS",
    "SAMPLE_MODES",
    "Argument",
    "Row",
    "attention_weights",
    "composite_body",
    "default_object",
    "grid_sample_by_steps",
    "rows",
    "schema_of",
]


@functools.cache
def rows() -> Mapping[str, Row]:
    """The rows of the table by their name, "add.Tensor".

    >>> rows()["bernoulli"].random, rows()["nonzero"].reads_value
    (True, 'always')
    """
    from taeda._table import _generate  # reads the whole table: a tenth of a second

    return MappingProxyType({row.schema.qualified: row for row in _generate.rows()})


def composite_body(family: str, name: str) -> Callable[..., Any] | None:
    """The Python function behind a composite row, which calls other operations; None if there is
    none of this name.

    >>> composite_body("comparison", "allclose").__module__
    'taeda._composite.comparison'
    """
    module = importlib.import_module(f"taeda._composite.{family}")
    found: Callable[..., Any] | None = getattr(module, name, None)
    return found
