"""Every argument of every row is described, rightly where families differ, and no text is left over."""

import pytest

from taeda._table import _meanings
from taeda._table._generate import rows
from taeda._table._row import Row

ROWS = {row.schema.qualified: row for row in rows()}


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_every_argument_is_described(row: Row):
    silent = [a.name for a in row.schema.arguments if not _meanings.meaning(row, a.name)]
    assert not silent, f"{row.schema.qualified}: write a line for {silent} in _table/_arguments.txt"


@pytest.mark.parametrize(
    ("row", "argument", "words"),
    [
        ("scaled_dot_product_attention", "value", "Ev"),
        ("addcmul", "value", "factor"),
        ("masked_fill.Scalar", "value", "written"),
        ("dropout", "p", "probability"),
        ("cdist", "p", "norm"),
        ("conv2d", "input", "H, W"),
        ("conv3d", "padding", "each of the 3"),
        ("max_pool1d", "padding", "-inf"),
        ("as_strided", "stride", "in memory"),
    ],
)
def test_a_name_means_what_it_means_there(row: str, argument: str, words: str):
    assert words in _meanings.meaning(ROWS[row], argument)


def test_no_text_is_left_over():
    used = set()
    for row in ROWS.values():
        for argument in row.schema.arguments:
            places = (*_meanings._names(row), row.family, "")
            known = [p for p in places if (argument.name, p) in _meanings._meanings().texts]
            used.add((argument.name, known[0]))
    assert set(_meanings._meanings().texts) <= used
    names = {name for row in ROWS.values() for name in _meanings._names(row)}
    assert set(_meanings._meanings().notes) <= names


@pytest.mark.parametrize("text", ["dim the dimension", "dim: one\ndim: another", "> conv2d"])
def test_a_line_that_is_no_entry_is_named(text: str):
    with pytest.raises(ValueError, match=r"entry|twice"):
        _meanings.read(text)
