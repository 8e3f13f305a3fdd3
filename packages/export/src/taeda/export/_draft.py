"""`draft_export`: a program at once, with the demands changed where they could not be met."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from taeda import nn
from taeda._core_api import warn
from taeda.compiler._errors import UserError

from ._collected import AdditionalInputs, ShapesCollection
from ._export import export
from ._fixes import refine_dynamic_shapes_from_suggested_fixes
from .exported_program import ExportedProgram

__all__ = ["DraftExportReport", "draft_export"]

_MOST_ROUNDS = 20


@dataclass(frozen=True)
class DraftExportReport:
    """What `draft_export` changed: the texts of the errors, in order, and the demands for which the
    program holds.
    """

    failures: tuple[str, ...]
    dynamic_shapes: Any

    def successful(self) -> bool:
        """Whether nothing was changed, so that `export` gives the same program."""
        return not self.failures

    def __str__(self) -> str:
        if self.successful():
            return "export gives this program as well: no demand was changed."
        said = "\n".join(f"{k}. {text}" for k, text in enumerate(self.failures, 1))
        return (
            f"{len(self.failures)} demands of dynamic_shapes were changed:\n{said}\n"
            f"The program holds for dynamic_shapes={self.dynamic_shapes!r}."
        )


def draft_export(
    mod: nn.Module,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    preserve_module_call_signature: tuple[str, ...] = (),
) -> ExportedProgram:
    """The program of `export`, with the fixes applied that its errors suggest.

    A size that the program fixes although `dynamic_shapes` says that it varies becomes a number. What
    was changed is in `_report` of the program, a `DraftExportReport`, and a warning says so: read it
    before the program is used, which holds for fewer sizes than were asked for. Arguments are those
    of `export`, and so are the errors that suggest no fix.

    Args:
        mod: the module
        args: its arguments by position, a tuple
        kwargs: its arguments by name (default: None)
        dynamic_shapes: which sizes vary, as for `export` (default: None)
        strict: changes nothing (default: False)
        preserve_module_call_signature: names of modules inside whose calls are kept as they were, for
            `unflatten` (default: ())

    >>> import taeda
    >>> from taeda import nn
    >>> from taeda.export import Dim
    >>> ep = draft_export(nn.Linear(3, 2), (taeda.ones(4, 3),), dynamic_shapes=({0: Dim("n")},))
    >>> ep._report.successful()
    True
    """
    shapes = dynamic_shapes
    if isinstance(shapes, ShapesCollection | AdditionalInputs):
        shapes = shapes.dynamic_shapes(mod, args, dict(kwargs or {}))
    failures: list[str] = []
    while True:
        try:
            program = export(
                mod,
                args,
                kwargs,
                dynamic_shapes=shapes,
                strict=strict,
                preserve_module_call_signature=preserve_module_call_signature,
            )
            break
        except UserError as error:
            shapes = _fixed(error, shapes, failures)
    program._report = DraftExportReport(tuple(failures), shapes)
    if failures:
        warn(f"draft_export: {program._report}", UserWarning)
    return program


def _fixed(error: UserError, shapes: Any, failures: list[str]) -> Any:
    """The demands with the fixes of an error; the error itself if it has none that can be applied."""
    if len(failures) == _MOST_ROUNDS or "Suggested fixes:" not in str(error):
        raise error
    try:
        made = refine_dynamic_shapes_from_suggested_fixes(str(error), shapes)
    except ValueError as why:
        raise error from why
    failures.append(str(error))
    return made
