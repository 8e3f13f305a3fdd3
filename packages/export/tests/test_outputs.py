"""Sizes, and what follows from sizes, as results: in programs, in files, in modules made of programs."""

from __future__ import annotations

import copy

import pytest
from exported_files import loaded
from size_results import CASES, SIZES, Of, given, plain, shapes

import taeda
from taeda import nn
from taeda.compiler._errors import UserError
from taeda.export import Dim, draft_export, export, unflatten
from taeda.export._outputs import argument_of, flat_results
from taeda.export.graph_signature import (
    ConstantArgument,
    SymBoolArgument,
    SymFloatArgument,
    SymIntArgument,
    TensorArgument,
)
from taeda.export.passes import move_to_device_pass
from taeda.fx.experimental._sizes_mode import Sizes

WAYS = {
    "module": lambda program: program.module(),
    "file": lambda program: loaded(program).module(),
    "decomposed": lambda program: program.run_decompositions().module(),
    "file-decomposed": lambda program: loaded(program).run_decompositions().module(),
    "decomposed-file": lambda program: loaded(program.run_decompositions()).module(),
    "unflattened": unflatten,
    "file-unflattened": lambda program: unflatten(loaded(program)),
}


@pytest.mark.parametrize("name", CASES)
def test_every_way_gives_the_numbers_of_the_module(name):
    model = Of(CASES[name])
    program = export(copy.deepcopy(model), (given(SIZES[0]),), dynamic_shapes=shapes())
    assert [r.lower for n, r in program.range_constraints.items() if n == "s0"] == [1]
    for way, make in WAYS.items():
        run, twin = make(program), copy.deepcopy(model)
        if hasattr(run, "seen"):
            run.seen.zero_()
        for n in SIZES:
            assert plain(run(given(n))) == plain(twin(given(n))), (way, n)


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_guarded_and_every_number_has_its_kind(name):
    program = export(Of(CASES[name]), (given(4),), dynamic_shapes=shapes())
    values = program.graph.output_node().args[0]
    kinds = {int: SymIntArgument, float: SymFloatArgument, bool: SymBoolArgument}
    assert program._guards == []
    for spec, value, shown in zip(
        program.graph_signature.output_specs,
        values,
        program.graph_signature.user_outputs,
        strict=True,
    ):
        if isinstance(value, taeda.fx.Node):
            wanted = kinds.get(type(value.meta["val"]), TensorArgument)(value.name)
            assert spec.arg == wanted and shown == value.name
            assert str(spec) == f"{value.name}: USER_OUTPUT"
        else:
            assert spec.arg == ConstantArgument("", value) and shown == value


def test_a_size_that_does_not_vary_is_a_plain_number():
    class Shapes(nn.Module):
        def forward(self, x):
            return x * 2, x.shape, x.shape[0] > 2

    program = export(Shapes(), (given(4),))
    assert program.graph_signature.user_outputs[1:] == (4, 3, True)
    assert [n.op for n in program.graph.nodes] == ["placeholder", "call_function", "output"]
    assert type(program.module()(given(4))[1]) is taeda.Size


@pytest.mark.parametrize(
    ("f", "second", "wanted"),
    [
        (lambda x, y: (x + y, y.shape[0]), {0: Dim("n")}, {}),
        (lambda x, y: (x + y, y.shape[0]), {0: Dim.AUTO}, {}),
        (lambda x, y: (y.shape[0] - x.shape[0], x.shape[0] * y.shape[0]), {0: Dim("m", max=9)}, {"s1": 9}),
        (lambda x, y: y.shape[0] // 2, {0: 2 * Dim("n")}, {}),
    ],
)  # fmt: skip
def test_sizes_that_are_tied_or_have_a_range(f, second, wanted):
    class Two(nn.Module):
        def forward(self, x, y):
            return f(x, y)

    doubled = "2" in str(second[0])
    rows = (lambda n: 2 * n) if doubled else (lambda n: n)
    free = {0: Dim("n")} if second[0] is not Dim.AUTO else {0: Dim.AUTO}
    program = export(Two(), (given(4), given(rows(4))), dynamic_shapes=(free, second))
    for n in (2, 7):
        args = given(n), given(rows(n))
        assert plain(program.module()(*args)) == plain(f(*args))
    found = {n: r.upper for n, r in program.range_constraints.items()}
    assert wanted.items() <= found.items()


def test_a_call_that_is_kept_gets_and_gives_sizes():
    model = Of(CASES["part"])
    program = export(
        model, (given(4),), dynamic_shapes=shapes(), preserve_module_call_signature=("part",)
    )
    first, second = (entry.signature for entry in program.module_call_graph[1:])
    kinds = [type(arg) for arg in (*first.inputs, *first.outputs)]
    assert kinds.count(SymIntArgument) == 3 and kinds.count(SymFloatArgument) == 2
    assert kinds.count(SymBoolArgument) == 1
    assert second.inputs[1] == ConstantArgument("", 1)
    for made in (program, loaded(program), program.run_decompositions()):
        again, run = unflatten(made), made.module()
        for n in SIZES:
            wanted = plain(model(given(n)))
            assert plain(again(given(n))) == wanted and plain(run(given(n))) == wanted
        part = again.part.call_modules()[0]
        got = part(given(2), 9, taeda.Size([2, 3]), rate=0.5)
        assert plain(got) == plain(model.part(given(2), 9, taeda.Size([2, 3]), rate=0.5))


def test_branches_that_give_other_sizes_are_refused():
    def branches(m, x):
        return taeda.cond(x.sum() > 0, lambda x: (x * 2, x.shape[0]), lambda x: (x * 3, 7), (x,))

    with pytest.raises(UserError, match="entry 1 of what true_fn gives"):
        export(Of(branches), (given(4),), dynamic_shapes=shapes())


def test_a_size_that_steps_fix_is_refused_and_a_draft_makes_it_a_number():
    model = Of(lambda m, x: (x.reshape(4, 3), x.shape[0]))
    with pytest.raises(UserError, match="rows = None"):
        export(model, (given(4),), dynamic_shapes=shapes())
    with pytest.warns(UserWarning, match="demands"):
        program = draft_export(model, (given(4),), dynamic_shapes=shapes())
    assert program.graph_signature.user_outputs[1] == 4
    with pytest.raises(UserError, match=r"gives a set: results .* are tensors, sizes"):
        export(Of(lambda m, x: {x.dim()}), (given(4),), dynamic_shapes=shapes())


def test_a_program_on_another_device_gives_its_sizes():
    program = export(Of(CASES["tree"]), (given(4),), dynamic_shapes=shapes())
    made = move_to_device_pass(program, "meta").module()(given(6).to("meta"))
    assert made["b"] == 6 and made["a"][0] == 7 and made["a"][1][0].device.type == "meta"


def test_values_by_their_nodes():
    assert argument_of(3) == ConstantArgument("", 3)
    graph = taeda.fx.Graph()
    node = graph.placeholder("x")
    assert argument_of(node) == TensorArgument("x")
    node.meta["val"] = True
    assert argument_of(node) == SymBoolArgument("x")
    leaves, spec = flat_results([Sizes((2, 3)), {"a": Sizes(())}, 1])
    assert leaves == [2, 3, 1]
    assert taeda.utils._pytree.tree_unflatten(leaves, spec) == [taeda.Size([2, 3]), {"a": ()}, 1]
