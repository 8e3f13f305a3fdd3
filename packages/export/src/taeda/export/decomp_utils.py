"""Which operators `ExportedProgram.run_decompositions` replaces, and by what."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import taeda
from taeda._core_api import programs as _core

__all__ = ["CustomDecompTable"]

#: by getattr, for the checker takes the stub of taeda and this module in a circle
_aten: Any = operator.attrgetter("ops.aten")(taeda)


def _composites() -> dict[Any, Callable[..., Any]]:
    """Every operator that other operators make up. It is its own decomposition: a call of it runs
    those, and they are what a trace sees.
    """
    made: dict[Any, Callable[..., Any]] = {}
    for text, _, kind, space, _, _ in _core.op_rows():
        if kind == "composite":
            name, _, overload = text.partition(".")
            if space in ("linalg", "special", "fft"):
                name = f"{space}_{name}"
            found = getattr(getattr(_aten, name), overload or "default")
            made[found] = found
    return made


class CustomDecompTable(dict[Any, Callable[..., Any]]):
    """Functions by the operators in whose place they run. It begins with all operators that are made
    of others; an operator that is deleted is kept in the program.

    The table is filled when something is read from it; what is set or deleted before then holds.
    A KeyError tells of an operator that it has not.

    >>> import taeda
    >>> table = CustomDecompTable()
    >>> del table[taeda.ops.aten.conv2d.default]
    >>> taeda.ops.aten.conv2d.default in table, taeda.ops.aten.conv1d.default in table
    (False, True)
    """

    def __init__(self) -> None:
        super().__init__()
        self._filled = False

    def materialize(self) -> dict[Any, Callable[..., Any]]:
        """The table as a dict of its own."""
        self._fill()
        return dict(super().items())

    def _fill(self) -> None:
        if self._filled:
            return
        self._filled = True
        for key, value in _composites().items():
            self.setdefault(key, value)

    def __getitem__(self, key: Any) -> Callable[..., Any]:
        self._fill()
        return super().__getitem__(key)

    def __delitem__(self, key: Any) -> None:
        self.pop(key)

    def __contains__(self, key: object) -> bool:
        self._fill()
        return super().__contains__(key)

    def __len__(self) -> int:
        self._fill()
        return super().__len__()

    def __iter__(self) -> Iterator[Any]:
        self._fill()
        return super().__iter__()

    def __reversed__(self) -> Iterator[Any]:
        self._fill()
        return super().__reversed__()

    def __eq__(self, other: object) -> bool:
        self._fill()
        return super().__eq__(
            other.materialize() if isinstance(other, CustomDecompTable) else other
        )

    __hash__ = None

    def get(self, key: Any, default: Any = None) -> Any:
        """The function for an operator, or `default`."""
        self._fill()
        return super().get(key, default)

    def keys(self) -> Any:
        """The operators."""
        self._fill()
        return super().keys()

    def values(self) -> Any:
        """The functions."""
        self._fill()
        return super().values()

    def items(self) -> Any:
        """Operators with their functions."""
        self._fill()
        return super().items()

    def update(self, other_dict: Mapping[Any, Any] | Iterable[Any] = ()) -> None:  # type: ignore[override]
        """Set the functions of another table."""
        super().update(other_dict)

    def pop(self, *args: Any) -> Any:
        """Take an operator out, so that programs keep it. Gives its function, or the second argument
        for one that is not there.
        """
        self._fill()
        return super().pop(*args)

    def copy(self) -> CustomDecompTable:
        """A table with the same entries."""
        made = CustomDecompTable()
        made._filled = self._filled
        super(CustomDecompTable, made).update(super().items())
        return made
