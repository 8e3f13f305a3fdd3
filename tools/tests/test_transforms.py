"""Random compositions of transforms: what is seen, what is left of a program that fails, and a share of them
that a default run affords; `nox -s transforms` goes on.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "hunt"))
import transform_programs
import transforms
from transform_layers import LAYERS
from transform_pieces import PIECES
from transform_programs import MODES, Program, made, smallest, wrong

import taeda

pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_share_of_the_programs():
    outcomes = Counter()
    assert list(transforms.faults(taeda, range(1, 200), outcomes)) == []
    assert outcomes["right"] > 120


@pytest.mark.parametrize("name", PIECES)
def test_every_piece_has_plain_derivatives(name):
    for layer in ("jvp", "vjp", "hessian", "vmap"):
        assert wrong(taeda, Program((), (layer,), (name,), "plain")) == ""


def test_every_part_is_drawn():
    programs = list(map(made, range(1, 3000)))
    assert {name for p in programs for name in p.layers} == {*LAYERS, *MODES}
    assert {name for p in programs for name in p.pieces} == set(PIECES)
    assert {p.form for p in programs} == set(transform_programs.FORMS)
    assert {name for p in programs for name in p.modes} >= set(transform_programs.CUTTING)


def other(change):
    layer, plain = LAYERS["jvp"]
    return (lambda lib, f, c: lambda x: change(layer(lib, f, c)(x))), plain


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda y: y * 1.0001, "where plain steps give"),
        (lambda y: y.float(), "float32"),
        (lambda y: y * taeda.ones((), dtype=y.dtype, requires_grad=True), "requires a gradient"),
        (lambda y: y + taeda.ones(7), "raised RuntimeError"),
        (lambda y: (taeda.set_grad_enabled(False) and None) or y, "left a mode behind"),
    ],
)
def test_what_is_wrong_is_told_with_the_smallest_program(monkeypatch, change, said):
    monkeypatch.setitem(LAYERS, "jvp", other(change))
    program = Program(("anomaly",), ("vmap", "flops", "jvp", "grad"), ("sin", "matrix"), "strided")
    with taeda.enable_grad():
        found = wrong(taeda, program)
    assert said in found
    small = smallest(program, lambda p: said in _afresh(p))
    assert "jvp" in small.layers
    assert len(small.layers) < 3
    assert len(small.pieces) == 1
    assert small.modes == ()


def _afresh(program):
    with taeda.enable_grad():
        return wrong(taeda, program)
