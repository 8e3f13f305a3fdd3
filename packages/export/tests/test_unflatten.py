"""Programs as modules again: names, parts, calls, and what they give."""

from __future__ import annotations

import copy
import sys

import pytest
from control_models import CASES as CONTROL
from exported_files import loaded
from program_models import CASES, normal

import taeda
from taeda import nn
from taeda.export import Dim, FlatArgsAdapter, export, unflatten
from taeda.fx import symbolic_trace
from taeda.utils._pytree import tree_leaves

parts = sys.modules["taeda.export.unflatten"]


def same(a, b):
    pairs = list(zip(tree_leaves(a), tree_leaves(b), strict=True))
    return all(x.equal(y) if isinstance(x, taeda.Tensor) else x == y for x, y in pairs)


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(4, 4), nn.BatchNorm1d(4)

    def forward(self, x):
        return self.norm(self.linear(x)).relu()


class Nested(nn.Module):
    """One module is called twice, one is inside of a container, and a buffer is written."""

    def __init__(self):
        super().__init__()
        self.twice = Inner()
        self.rest = nn.Sequential(Inner(), nn.Tanh())
        self.register_buffer("count", taeda.zeros(()))

    def forward(self, x):
        self.count.add_(1)
        return self.rest(self.twice(self.twice(x))) + self.count


def nested():
    model = Nested()
    return model, export(model, (normal(3, 4),), dynamic_shapes=({0: Dim("n")},))


@pytest.mark.parametrize("name", CASES)
def test_the_bits_are_those_of_the_module(name):
    case = CASES[name]
    model = case.make()
    made = unflatten(export(model, case.given(3), dynamic_shapes=case.shapes))
    twin = copy.deepcopy(model)
    for n in (3, 1, 6):
        assert same(made(*case.given(n)), twin(*case.given(n))), n


@pytest.mark.parametrize("decompose", [False, True])
def test_modules_and_state_have_the_names_of_the_original(decompose):
    model, program = nested()
    made = unflatten(program.run_decompositions() if decompose else program)
    assert {n for n, _ in made.named_modules()} == {n for n, _ in model.named_modules()}
    assert set(made.state_dict()) == set(model.state_dict())
    assert isinstance(made.rest.get_submodule("0"), parts.InterpreterModule)
    assert made.rest.get_submodule("0").type_name() == "Inner"
    twice = made.twice
    assert isinstance(twice, parts.InterpreterModuleDispatcher) and len(twice.call_modules()) == 2
    twin = copy.deepcopy(model)
    for n in (3, 2, 5):
        assert same(made(normal(n, 4)), twin(normal(n, 4)))
    assert all(t.equal(twin.state_dict()[n]) for n, t in made.state_dict().items())
    assert model.count == 0 and model.twice.linear.weight is not twice.linear.weight


def test_a_module_alone_runs_its_part():
    model, program = nested()
    first = unflatten(program).rest.get_submodule("0")
    x = normal(3, 4)
    assert first(x).equal(copy.deepcopy(model).rest[0](x))
    with pytest.raises(TypeError, match="got 2 arguments"):
        first(x, x)


def test_gradients_reach_the_parameters():
    _, program = nested()
    made = unflatten(program)
    made(normal(3, 4)).sum().backward()
    assert all(p.grad is not None for p in made.parameters())


def test_arguments_are_checked_and_adapted():
    class Adapter(FlatArgsAdapter):
        def adapt(self, target_spec, input_spec, input_args, metadata=None, obj=None):
            assert target_spec.num_leaves == 1 and input_spec.num_leaves == 2
            assert isinstance(obj, parts.UnflattenedModule)
            return input_args[: self.count]

    _, program = nested()
    with pytest.raises(AssertionError, match="Guard failed"):
        unflatten(program)(normal(3, 5))
    adapter = Adapter()
    adapter.count = 1
    made = unflatten(program, adapter)
    assert adapter.get_flat_arg_paths() == []
    assert made(normal(3, 4), 5).shape == (3, 4)
    adapter.count = 2
    with pytest.raises(TypeError, match="the adapter gives 2 leaves, and the program takes 1"):
        made(normal(3, 4), 5)
    with pytest.raises(TypeError, match="abstract"):
        FlatArgsAdapter()


def test_calls_take_turns():
    graphs = [symbolic_trace(f).graph for f in (lambda x: x + 1, lambda x: x + 2)]
    calls = [parts.InterpreterModule(graph, "Add") for graph in graphs]
    calls[0].register_buffer("mark", taeda.ones(1))
    made = parts.InterpreterModuleDispatcher({"mark"}, calls)
    assert made.mark is calls[0].mark and made.type_name() == "Add"
    assert [made(x=taeda.zeros(())).item() for _ in range(3)] == [1.0, 2.0, 1.0]
    made.to(taeda.float64)
    assert made.mark is calls[0].mark and made.mark.dtype == taeda.float64
    with pytest.raises(AssertionError, match="is empty"):
        parts.InterpreterModuleDispatcher(set(), [])


def test_what_is_refused():
    with pytest.raises(TypeError, match="ExportedProgram, got Linear"):
        unflatten(nn.Linear(2, 2))
    program = loaded(nested()[1])
    for node in program.graph.nodes:
        node.meta.pop("nn_module_stack", None)
    with pytest.raises(NotImplementedError, match="a file that does not say"):
        unflatten(program)


class Twice(nn.Module):
    """One module is called twice, with another one in between; the result is that of a batch norm."""

    def __init__(self):
        super().__init__()
        self.part = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3))
        self.between = nn.Linear(3, 3)

    def forward(self, x):
        return self.part(self.between(self.part(x)))


@pytest.mark.parametrize("from_file", [False, True])
def test_a_module_that_was_called_twice_is_converted_once(from_file):
    model = Twice().eval()
    program = export(model, (normal(4, 3),))
    made = unflatten(loaded(program) if from_file else program)
    assert made(normal(4, 3)).equal(model(normal(4, 3)))
    names = {name for name, _ in made.named_parameters()}
    assert names == {name for name, _ in model.named_parameters()}
    first, second = made.double().part.call_modules()
    state = first.state_dict(keep_vars=True)
    for other in (second, made.part):
        found = other.state_dict(keep_vars=True)
        assert all(found[name] is value for name, value in state.items())
    assert {t.dtype for t in made.parameters()} == {taeda.float64}
    assert made.float()(normal(4, 3)).equal(model(normal(4, 3)))


@pytest.mark.parametrize("name", CONTROL)
def test_functions_of_branches_and_loops_go_with_their_module(name):
    case = CONTROL[name]
    model = nn.Sequential(case.make())
    made = unflatten(loaded(export(model, case.given(4, 2))))
    leaves = zip(
        tree_leaves(made(*case.given(4, 2))), tree_leaves(model(*case.given(4, 2))), strict=True
    )
    assert all(a.equal(b) for a, b in leaves)
