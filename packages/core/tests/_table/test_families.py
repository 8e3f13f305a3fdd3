"""Whoever knows a row's family finds its C: folders and file names say it."""

from pathlib import Path

import pytest

from taeda._table._generate import rows

CSRC = Path(__file__).parents[2] / "csrc"
#: first parts of paths that are no family, and why
OUTSIDE = {
    "cpu/simd": "the vector words of all kernels",
    "cpu/run": "walks, copies and libraries that all families use",
    "cpu/convert": "conversions between all dtypes",
    "cpu/copy": "rows of copies, which views of every family come to",
    "cpu/resample": "the rows of upsample_*, which the table keeps with pooling",
    "ops/resample": "the rows of upsample_*, which the table keeps with pooling",
    "ops/layout": "memory formats, which every operator asks",
    "ops/promotion": "the common dtype, which every operator asks",
}
FILES = sorted(p.relative_to(CSRC) for room in ("ops", "cpu") for p in (CSRC / room).rglob("*.[ch]"))


def families() -> set[str]:
    """`linalg_factor`, `linalg_norm`, … are files of one family."""
    return {row.family.partition("_")[0] for row in rows()}


def first_part(file: Path) -> str:
    """`ops/linalg/svd.c` -> `ops/linalg`; `ops/creation_matrix.c` -> `ops/creation`."""
    return f"{file.parts[0]}/{file.parts[1].partition('.')[0].partition('_')[0]}"


@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_file_of_c_names_its_family(file):
    room, _, word = first_part(file).partition("/")
    assert f"{room}/{word}" in OUTSIDE or word in families(), f"{file}: no family is called {word!r}"


def test_exceptions_exist():
    assert set(OUTSIDE) <= {first_part(file) for file in FILES}
