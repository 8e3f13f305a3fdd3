"""Make a package around an operator from the files in `template/`."""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from taeda._core_api.files import atomic_write

from ._build import HERE

__all__ = ["new_package"]

WORD = "my_op"


def new_package(name: str, parent: Path) -> list[Path]:
    """Write a package `name` to `parent`/`name`, which must not exist, and return its files.

    ValueError for what is no name of a Python module, FileExistsError if the folder is there.
    """
    if not re.fullmatch(r"[a-z_][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise ValueError(
            f"{name!r} cannot be the name of a module: wanted small letters, digits and "
            "underscores, such as fast_gelu"
        )
    target = parent / name
    target.mkdir(parents=True)
    template = HERE / "template"
    return [
        _write(path, target / _place(path.relative_to(template), name), name)
        for path in sorted(template.rglob("*.in"))
    ]


def _place(path: Path, name: str) -> Path:
    made = path.with_suffix("")
    made = made.with_name(".gitignore") if made.name == "gitignore" else made
    return Path(*(part.replace(WORD, name) for part in made.parts))


def _write(source: Path, target: Path, name: str) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as file:
        file.write(source.read_text().replace(WORD, name).encode())
    return target
