"""Programs that are called, changed around, and called again: each gives the same with and without compile.

A scenario takes `compile`, or a function that leaves programs as they are, and returns all results.
`thrice` calls a program often enough that a captured graph is trusted and runs by itself. A module
holds the scenarios of one subject.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import (
    arguments,
    attributes,
    control,
    eager,
    loops,
    modules,
    randomness,
    reads,
    results,
    training,
)
from ._forms import FORMS
from ._scenario import of

__all__ = ["EAGER", "FORMS", "SCENARIOS"]

#: in the order of the table in docs/compile-scenarios.md
_SUBJECTS = (
    reads, attributes, modules, arguments, results, randomness, eager, control, training, loops,
)  # fmt: skip
_ALL = {name: marked for subject in _SUBJECTS for name, marked in of(subject).items()}

#: name -> (what changes, program)
SCENARIOS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    name: (what, program) for name, (what, program, _) in _ALL.items()
}
#: those of which no graph is expected
EAGER: set[str] = {name for name, (_, _, stays) in _ALL.items() if stays}
