"""The code of a graph."""

from __future__ import annotations

import copy
import pickle
import traceback

import pytest
from fx_programs import same

import taeda
from taeda import fx, nn
from taeda.fx.graph import CodeGen


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


class OneList(CodeGen):
    """The arguments come as one list, the result goes in a dict."""

    def gen_fn_def(self, free_vars, maybe_return_annotation):
        head = f"def forward({self.root}, values : List){maybe_return_annotation}:"
        return f"{head}\n    {', '.join(free_vars)}, = values"

    def generate_output(self, output_args):
        return f"return {{'y': {output_args!r}}}"

    def process_inputs(self, *inputs):
        return inputs[0]

    def process_outputs(self, outputs):
        return {"y": outputs}

    def additional_globals(self):
        return [("List", list)]


def test_a_codegen_of_ones_own():
    gm = fx.symbolic_trace(lambda x, y: x - y)
    gm.graph.set_codegen(OneList())
    gm.recompile()
    for one in (gm, copy.deepcopy(gm), pickle.loads(pickle.dumps(gm))):
        assert one([3, 2]) == {"y": 1}
        assert fx.Interpreter(one).run([3, 2]) == {"y": 1}
        assert fx.Interpreter(one).run(3, 2, enable_io_processing=False) == 1
        assert fx.Transformer(one).transform()([3, 2]) == {"y": 1}
    assert gm.graph.process_inputs([3, 2]) == [3, 2]
    assert gm.graph.process_outputs(1) == {"y": 1}


def test_a_codegen_is_one():
    with pytest.raises(TypeError, match=r"taeda\.fx\.graph\.CodeGen, got str"):
        fx.Graph().set_codegen("list")
