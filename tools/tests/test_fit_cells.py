"""The header of cells is what its tool writes; the judge of a fit itself."""

from __future__ import annotations

import mpmath as mp
import pytest
from by_path import load

fit_cells = load("tools/hold/fit_cells.py")


@pytest.fixture(autouse=True)
def digits():
    with mp.workdps(fit_cells.DIGITS):
        yield


@pytest.mark.parametrize("name", ["i0_square", "digamma", "erfcx", "erfinv"])
def test_the_header_is_what_the_tool_writes(name):
    (table,) = (t for t in fit_cells.tables() if t.name == name)
    assert fit_cells.written(table) in fit_cells.HEADER.read_text()


def test_a_fit_is_as_close_as_it_says():
    piece = fit_cells.Piece("all", mp.sin, 0, 2, 4, zeros=(mp.mpf(0),))
    cells, error = fit_cells.fit(fit_cells.Table("sin", "", (piece,)))
    assert error < fit_cells.GOAL
    for x in (1e-9, 0.3, 0.7, 1.2, 1.9):
        cell = cells[int(x * 2)]
        got = fit_cells.summed(cell.coefficients, mp.mpf(x) - cell.centre)
        assert abs(got / mp.sin(mp.mpf(x)) - 1) < 3e-17
    assert cells[0].centre == 0
    assert cells[0].coefficients[0] == 0


def test_too_low_a_degree_is_refused():
    piece = fit_cells.Piece("all", mp.exp, 0, 1, 1, goal=1e-10)
    assert fit_cells.fit_cell(piece, 0, 3).error > 1e-5
    (cell,), error = fit_cells.fit(fit_cells.Table("exp", "", (piece,)))
    assert 6 <= len(cell.coefficients) - 1 <= 10
    assert error <= 1e-10
