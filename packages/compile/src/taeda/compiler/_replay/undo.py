"""The way back of a call that a function of somebody else makes: what the call may have changed
before one of its operations raises, as it was.

before   copies of the inputs that are written before an operation that may raise, their versions,
         the states of generators
after    nothing; or, if it raised, all of that is put back
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import programs as _core

__all__ = ["Undo"]


class Undo:
    """What these tensors and generators are now."""

    def __init__(self, written: Iterable[Tensor], generators: Iterable[taeda.Generator]) -> None:
        self._written = [(t, t._version, t.detach().clone()) for t in written]
        self._generators: list[tuple[Any, Tensor]] = [(g, g.get_state()) for g in generators]

    def put_back(self) -> None:
        """Let them be that again, of the same version."""
        with taeda.no_grad():
            for tensor, _, content in self._written:
                tensor.detach().copy_(content)
        for tensor, version, _ in self._written:  # at the end: some share memory and version
            _core.set_version(tensor, version)
        for generator, state in self._generators:
            generator.set_state(state)
