"""Valid calls of every row of the op table, at any dtype and size: what tests over the whole table
start from.

    for sample in samples("add.Tensor", "float32", n=7):
        sample.call()                        # taeda.add(x, y)
        sample.map(strided).call()           # the same numbers, other tensors

A family's calls stand in `<family>.txt`: a row, perhaps a mark that says which dtypes it is for (a
kind of `_MARKS`, or one dtype), and the arguments of its calls, separated by ` ; `. The arguments
are Python; `_numbers.Maker` has the names in them (`x(m, n)` is a tensor of numbers). Rows whose
arguments are tensors of one shape have no line: `_plain` writes their calls from the schema. What a
sample holds depends on its row, dtype, sizes and seed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import taeda
from taeda._native import core
from taeda._table._generate import rows
from taeda._table._row import Row

from ._numbers import Maker
from ._plain import plain

__all__ = [
    "ROWS",
    "SIZES",
    "WITHOUT",
    "Row",
    "Sample",
    "default_dtype",
    "fits",
    "samples",
    "tensors",
]

#: every row by its name
ROWS: dict[str, Row] = {row.schema.qualified: row for row in rows()}
#: rows that no sample calls, and why
WITHOUT: dict[str, str] = {}
#: of the names in the texts, where nothing else is asked for
SIZES = {"n": 6, "m": 5, "k": 3}
_MARKS = {
    "": ("bool", "int", "float", "complex"),
    "int": ("bool", "int"),
    "real": ("bool", "int", "float"),
    "inexact": ("float", "complex"),
    "float": ("float",),
    "complex": ("complex",),
}


@dataclass(frozen=True)
class Sample:
    """One call of a row. Its tensors are fresh and contiguous; some rows write into theirs."""

    row: Row
    number: int
    text: str
    dtype: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.row.schema.qualified}({self.text}) in {self.dtype}"

    def call(self, **more: Any) -> Any:
        """Call the row as a user does; `more` are further keywords, such as `out`."""
        return function(self.row)(*self.args, **self.kwargs, **more)

    def map(self, change: Callable[[taeda.Tensor], Any]) -> Sample:
        """The call with `change` of every tensor, those in lists too."""
        args, kwargs = _mapped(self.args, change), _mapped(self.kwargs, change)
        return replace(self, args=args, kwargs=kwargs)

    def tensors(self) -> list[taeda.Tensor]:
        """Its tensors, in the order in which `map` meets them."""
        return tensors((self.args, self.kwargs))

    def written(self) -> list[taeda.Tensor]:
        """Those that the row's schema says are changed by the call."""
        found = []
        for place, argument in enumerate(self.row.schema.arguments):
            given = self.args[place] if place < len(self.args) else self.kwargs.get(argument.name)
            found += tensors(given) if argument.mutated else []
        return found


def samples(
    row: Row | str, dtype: str | None = None, *, seed: int = 0, **sizes: int
) -> Iterator[Sample]:
    """The calls of a row in `dtype` (its own where None is given); none if the row is not for that dtype.

    A dtype that a row's mark allows may still be refused by the op, by NotImplementedError or
    another RuntimeError.
    """
    row = ROWS[row] if isinstance(row, str) else row
    dtype = dtype or default_dtype(row)
    if not fits(row, dtype):
        return
    for number, text in enumerate(_texts(row)[1]):
        maker = Maker(f"{row.schema.qualified} {number} {seed}", dtype, {**SIZES, **sizes})
        try:
            args, kwargs = maker.arguments(text)
        except MemoryError:  # a RuntimeError as well
            raise
        except RuntimeError:
            if dtype == default_dtype(row):
                raise
            continue  # what the arguments are made by is not for this dtype
        yield Sample(row, number, text, dtype, args, kwargs)


def default_dtype(row: Row) -> str:
    """float64 where the row takes it."""
    mark = _texts(row)[0]
    allowed = _MARKS.get(mark, ())
    if not allowed:
        return mark
    return "float64" if "float" in allowed else "int64" if "int" in allowed else "complex128"


def fits(row: Row, dtype: str) -> bool:
    """Whether the row's mark allows `dtype`."""
    kind = next((kind for kind in ("bool", "float", "complex") if kind in dtype), "int")
    mark = _texts(row)[0]
    return dtype == mark or kind in _MARKS.get(mark, ())


def function(row: Row) -> Callable[..., Any]:
    """The function or method that users know the row by; the operator itself where there is neither."""
    name = row.schema.name
    if "function" in row.variants:
        return core.functions[row.namespace][name]
    if "method" in row.variants:
        return getattr(taeda.Tensor, name)
    return getattr(getattr(taeda.ops.aten, name), row.schema.overload or "default")


def tensors(value: Any) -> list[taeda.Tensor]:
    """All tensors of a value of lists, tuples and dicts."""
    if isinstance(value, taeda.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [t for part in value for t in tensors(part)] if isinstance(value, (list, tuple)) else []


@cache
def _lines() -> dict[str, tuple[str, tuple[str, ...]]]:
    """(mark, texts) by row, of all families."""
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for path in sorted(Path(__file__).parent.glob("*.txt")):
        for line in path.read_text().splitlines():
            name, _, rest = line.partition(": ")
            mark, _, texts = rest.partition(" ") if rest.startswith("@") else ("@", "", rest)
            known = mark[1:] in _MARKS or hasattr(taeda, mark[1:])
            if name in found or ROWS[name].family != path.stem or not known:
                raise ValueError(f"{path.name}: wrong, or there before: {line}")
            found[name] = mark[1:], tuple(texts.split(" ; "))
    return found


def _texts(row: Row) -> tuple[str, tuple[str, ...]]:
    name = row.schema.qualified
    if name in WITHOUT:
        return "", ()
    return _lines().get(name) or ("", (plain(row),))


def _mapped(value: Any, change: Callable[[taeda.Tensor], Any]) -> Any:
    if isinstance(value, taeda.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {name: _mapped(part, change) for name, part in value.items()}
    if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
        return type(value)(_mapped(part, change) for part in value)
    return value
