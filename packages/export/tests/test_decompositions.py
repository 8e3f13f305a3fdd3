"""Programs traced again: functions in place of operators, and what they write as outputs."""

from __future__ import annotations

import copy
import io

import pytest
from program_models import CASES, normal

import taeda
from taeda import nn
from taeda.compiler._errors import UserError
from taeda.export import Dim, default_decompositions, export, load, save
from taeda.export.graph_signature import OutputKind
from taeda.utils._pytree import tree_leaves

ATEN = taeda.ops.aten


def same(a, b):
    pairs = list(zip(tree_leaves(a), tree_leaves(b), strict=True))
    return all(x.equal(y) if isinstance(x, taeda.Tensor) else x == y for x, y in pairs)


def targets(program):
    return [n.target for n in program.graph.nodes if n.op == "call_function"]


class Writing(nn.Module):
    """It writes into buffers, through views as well, and into its arguments."""

    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)
        self.register_buffer("count", taeda.zeros(()))
        self.register_buffer("a", taeda.ones(2))
        self.register_buffer("b", taeda.zeros(2), persistent=False)

    def forward(self, x, k=2):
        self.count.add_(1)
        x[:, 0].mul_(k)
        before = self.a.clone()
        self.a.copy_(self.b)
        self.b.copy_(before)
        return self.norm(self.conv(x)).relu() + self.count, {"k": k}


@pytest.mark.parametrize("table", [None, {}])
@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_those_of_the_module(name, table):
    case = CASES[name]
    model = case.make()
    program = export(model, case.given(3), dynamic_shapes=case.shapes)
    made = program.run_decompositions(table)
    assert not any(op in default_decompositions() for op in targets(made)) or table is not None
    if table is not None:
        assert set(targets(made)) >= {
            op for op in targets(program) if op in default_decompositions()
        }
    twin = copy.deepcopy(model)
    run = made.module()
    for n in (3, 1, 6):
        assert same(run(*case.given(n)), twin(*case.given(n))), n


def check(run, model):
    for n in (2, 1, 5):
        x = normal(n, 3, 8, 8)
        y = x.clone()
        assert same(run(x), model(y)) and x.equal(y)
        state = dict(run.named_buffers())
        assert all(state[name].equal(t) for name, t in model.named_buffers())


@pytest.mark.parametrize("table", [None, {}])
def test_what_is_written_is_an_output(table):
    model = Writing()
    program = export(model, (normal(2, 3, 8, 8),), dynamic_shapes=({0: Dim("n")},))
    made = program.run_decompositions(table)
    signature = made.graph_signature
    assert list(signature.buffers_to_mutate.values()) == [
        "count", "a", "b", "norm.running_mean", "norm.running_var", "norm.num_batches_tracked",
    ]  # fmt: skip
    assert list(signature.user_inputs_to_mutate.values()) == ["x"]
    assert [s.kind for s in signature.output_specs[-2:]] == [OutputKind.USER_OUTPUT] * 2
    assert not any("_." in str(op) for op in targets(made))
    check(copy.deepcopy(made).module(), copy.deepcopy(model))
    again = copy.deepcopy(made).run_decompositions(table)
    written = [again.graph_signature.buffers_to_mutate, signature.buffers_to_mutate]
    assert list(written[0].values()) == list(written[1].values())
    check(again.module(), copy.deepcopy(model))
    file = io.BytesIO()
    save(made, file)
    file.seek(0)
    read = load(file)
    assert read.graph_signature.buffers_to_mutate == signature.buffers_to_mutate
    check(read.module(), model)


def test_new_values_that_are_other_inputs():
    class Swap(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("a", taeda.ones(2))
            self.register_buffer("b", taeda.zeros(2))

        def forward(self, x):
            self.a.copy_(self.b)
            self.b.copy_(x)
            return x + 1

    made = export(Swap(), (taeda.ones(2),)).run_decompositions()
    run = made.module()
    run(taeda.full((2,), 5.0))
    run(taeda.full((2,), 7.0))
    assert run.a.tolist() == [5.0, 5.0] and run.b.tolist() == [7.0, 7.0]


def test_a_function_of_the_user():
    program = export(nn.Conv2d(1, 1, 3), (taeda.ones(1, 1, 4, 4),))
    table = default_decompositions()

    def twice(x, weight, bias, stride, padding, dilation, groups):
        return 2 * ATEN.convolution(
            x, weight, bias, stride, padding, dilation, False, [0, 0], groups
        )

    table[ATEN.conv2d.default] = twice
    made = program.run_decompositions(table)
    assert [str(op) for op in targets(made)] == ["aten.convolution.default", "aten.mul.Tensor"]
    x = normal(1, 1, 4, 4)
    assert made.module()(x).equal(program.module()(x) * 2)
    table = default_decompositions()
    table[ATEN.convolution.default] = lambda *args: args[0]
    assert targets(program.run_decompositions(table)) == []


def test_a_function_of_rows_that_only_a_decomposition_runs():
    class Model(nn.Module):
        def forward(self, x):
            return x.sigmoid()

    program = export(Model(), (taeda.ones(2),))
    table = {
        ATEN.sigmoid.default: lambda x: 1 / (1 + (-x).exp()),
        ATEN.exp.default: lambda x: x * 0 + 3,
    }
    made = program.run_decompositions(table)
    assert made.module()(taeda.ones(2)).tolist() == [0.25, 0.25]


def test_what_is_refused():
    program = export(nn.Linear(2, 2), (taeda.ones(3, 2),), dynamic_shapes=({0: Dim("n")},))
    with pytest.raises(RuntimeError, match=r"20 rounds .*aten\.linear"):
        program.run_decompositions({ATEN.linear.default: lambda *a: ATEN.linear(*a)})
    with pytest.raises(UserError, match="one for fixed sizes only"):
        program.run_decompositions(
            {ATEN.linear.default: lambda x, *_: x * 2 if x.shape[0] % 2 else x + 1}
        )
    with pytest.raises(NotImplementedError, match="decompose_custom_triton_ops"):
        program.run_decompositions(decompose_custom_triton_ops=True)
