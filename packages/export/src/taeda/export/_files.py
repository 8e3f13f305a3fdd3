"""`save` and `load` of exported programs."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from typing import Any

from taeda._core_api.files import FormatError, atomic_write, opened

from ._pt2._reading import Archive, program_of
from ._pt2._write import archive_of
from .exported_program import ExportedProgram

__all__ = ["load", "save"]


def save(
    ep: ExportedProgram, f: Any, *, extra_files: Mapping[str, str | bytes] | None = None
) -> None:
    """Write a program with its tensors to a path, or to an object with `write`: a .pt2 archive.

    The file holds data only. It is read back before it is written, so that what `load` would refuse
    is refused here, and a path is the old file or the new one, never half of one. `extra_files` are
    kept beside the program, by name. PyTorch reads the file where every operator has a name there:
    rows of taeda alone (`_bag_sums`) are under `torch.ops.taeda`.

    TypeError for what is no program; NotImplementedError for what has no place in a file yet.

    Args:
        ep: the program
        f: a path, or an object with `write`
        extra_files: texts or bytes to keep beside the program, by name (default: None)

    >>> program = taeda.export.export(taeda.nn.Linear(2, 1), (taeda.ones(1, 2),))
    >>> taeda.export.save(program, "linear.pt2")
    >>> taeda.export.load("linear.pt2").module()(taeda.ones(1, 2)).shape
    taeda.Size([1, 1])
    """
    if not isinstance(ep, ExportedProgram):
        raise TypeError(f"save: wanted an ExportedProgram, got {type(ep).__name__}")
    extra = dict(extra_files or {})
    for name in extra:
        if not isinstance(name, str) or not name or name.startswith("/") or ".." in name:
            raise ValueError(f"save: extra_files has names like 'notes.txt', got {name!r:.80}")
    content = archive_of(ep, extra)
    with opened(io.BytesIO(content), False) as source:
        program_of(Archive(source))
    if isinstance(f, (str, os.PathLike)):
        with atomic_write(f, len(content)) as file:
            file.write(content)
    else:
        f.write(content)


def load(f: Any, *, extra_files: dict[str, Any] | None = None) -> ExportedProgram:
    """The program in a .pt2 file, of taeda or of PyTorch (version 8 of the format).

    The file is read as data: nothing in it is run, imported or unpickled, operators are looked up
    by name in the table of taeda, and a program with another one is refused. The values of
    `extra_files` become the texts of the files of these names.

    `FormatError`, which is a RuntimeError, says what is wrong with a file.

    Args:
        f: a path, or an object with `read` and `seek`
        extra_files: names of files beside the program; their texts become the values (default:
            None)

    >>> program = taeda.export.export(taeda.nn.Linear(2, 1), (taeda.ones(1, 2),))
    >>> taeda.export.save(program, "linear.pt2")
    >>> taeda.export.load("linear.pt2").module()(taeda.ones(1, 2)).shape
    taeda.Size([1, 1])
    """
    with opened(f, False) as source:
        archive = Archive(source)
        program = program_of(archive)
        for name in extra_files or {}:
            found = archive.get(f"extra/{name}")
            if found is None:
                raise FormatError(f"the file has no extra file {name!r:.80}")
            assert extra_files is not None
            extra_files[name] = found.decode("utf-8", "replace")
    return program
