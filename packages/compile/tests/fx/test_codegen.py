"""The code of a graph."""

from __future__ import annotations

import traceback

import pytest
from fx_programs import same

import taeda
from taeda import fx, nn


def test_bodies_may_be_transformed():
    gm = fx.symbolic_trace(lambda x: x + 1)
    with gm.graph.on_generate_code(lambda current: lambda body: ["x = x * 2\n", *body]):
        gm.recompile()
    assert gm(taeda.tensor(3.0)).item() == 7
    gm.recompile()
    assert gm(taeda.tensor(3.0)).item() == 4


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.unused = nn.Linear(2, 2)

    def forward(self, x):
        return self.inner(x) + 1


def test_errors_show_the_line_of_the_generated_code():
    gm = fx.symbolic_trace(lambda x: taeda.matmul(x, x))
    with pytest.raises(RuntimeError) as caught:
        gm(taeda.ones(2, 3))
    assert "matmul = taeda.matmul(x, x)" in "".join(traceback.format_exception(caught.value))
    with pytest.raises(RuntimeError) as caught:
        fx.Interpreter(gm).run(taeda.ones(2, 3))
    assert "While executing %matmul" in caught.value.__notes__[0]


def test_readable_text(capsys):
    text = fx.symbolic_trace(Model()).print_readable()
    assert text.startswith("class Model(taeda.nn.Module):")
    assert capsys.readouterr().out.strip() == text.strip()


def keywords(x, *, scale=2.0, shift):
    return x * scale + shift


def test_keyword_only_parameters_and_stars():
    gm = fx.symbolic_trace(keywords)
    assert "scale = 2.0, *, shift" in gm.code
    x = taeda.ones(2)
    same(gm(x, shift=3), keywords(x, shift=3))
    gm = fx.symbolic_trace(lambda *xs, **named: xs[0] + xs[1] * named["k"])
    same(gm(x, x, k=3), x * 4)
