"""Tells in which module of a model an error arose, as a note on the exception.

An error that passes through the calls of nested modules carries one note, which each of them on the
way out replaces by its own view: "in Linear", then "in module 'head.2' (Linear) of Net".
"""

from __future__ import annotations

from typing import Any

__all__ = ["name_module"]


class _Place(str):
    """The text of the note, and the module it speaks of (by identity, so that nothing is kept alive)."""

    kind: str
    origin: int

    @staticmethod
    def of(module: Any, outer: Any = None, path: str = "") -> _Place:
        kind = type(module).__name__
        text = f"in module {path!r} ({kind}) of {type(outer).__name__}" if path else f"in {kind}"
        place = _Place(text)
        place.kind, place.origin = kind, id(module)
        return place


def name_module(error: Exception, module: Any) -> None:
    """Note on `error`, which leaves a call of `module`, where below `module` it came from."""
    notes = getattr(error, "__notes__", [])
    for i, note in enumerate(notes):
        if type(note) is _Place:
            notes[i] = _seen_from(module, note)
            return
    error.add_note(_Place.of(module))


def _seen_from(outer: Any, note: _Place) -> _Place:
    for path, module in outer.named_modules():
        if id(module) == note.origin:
            return _Place.of(module, outer, path)
    return _Place.of(outer)  # the error was kept and raised again, elsewhere
