"""`export`: programs for the sizes that Dims allow, and what is refused."""

from __future__ import annotations

import copy

import pytest
from data_models import Of
from exported_models import SETS, models
from program_models import CASES, Convolutions, normal

import taeda
from taeda import nn
from taeda.compiler._errors import UserError
from taeda.export import Dim, export
from taeda.utils._pytree import tree_leaves


def function(f):
    class Made(nn.Module):
        def forward(self, *args, **kwargs):
            return f(*args, **kwargs)

    return Made()


def same(a, b):
    pairs = list(zip(tree_leaves(a), tree_leaves(b), strict=True))
    return all(x.equal(y) if isinstance(x, taeda.Tensor) else x == y for x, y in pairs)


@pytest.mark.parametrize("example", [1, 3])
@pytest.mark.parametrize("name", CASES)
def test_programs_give_the_bits_of_the_module_at_every_size(name, example):
    case = CASES[name]
    model = case.make()
    program = export(model, case.given(example), dynamic_shapes=case.shapes)
    twin = copy.deepcopy(model)
    run = program.module()
    for n in (example, 1, 2, 5, 8):
        assert same(run(*case.given(n)), twin(*case.given(n))), n


def test_buffers_are_written_by_the_run_and_not_by_the_export():
    model = Convolutions()
    before = copy.deepcopy(model.state_dict())
    program = export(model, (normal(3, 3, 8, 8),))
    assert all(model.state_dict()[n].equal(t) for n, t in before.items())
    program.module()(normal(3, 3, 8, 8))
    assert model.norm.num_batches_tracked.item() == 1


def test_gradients_flow_through_the_module():
    model = nn.Linear(3, 2)
    x = normal(4, 3)
    export(model, (x,)).module()(x).sum().backward()
    got = model.weight.grad.clone()
    model.weight.grad = None
    model(x).sum().backward()
    assert got.equal(model.weight.grad)


def test_one_tensor_given_twice_is_two_inputs():
    x = taeda.ones(2)
    program = export(function(lambda a, b: a * 10 + b), (x, x))
    assert program.module()(x, x * 2).tolist() == [12.0, 12.0]


def test_sizes_without_a_dim_are_numbers():
    program = export(nn.Linear(3, 3), (normal(3, 3),))
    with pytest.raises(AssertionError, match=r"Guard failed: input_1\.size\(\)\[0\] == 3, got 4"):
        program.module()(normal(4, 3))


def test_checks_of_a_call():
    batch = Dim("batch", min=2, max=6)
    add = function(lambda x, k, y: x * k + y)
    shapes = ({0: batch}, None, {0: batch})
    run = export(add, (normal(4, 2), 3, normal(4, 2)), dynamic_shapes=shapes).module()
    assert run(normal(6, 2), 3, normal(6, 2)).shape == (6, 2)
    for args, said in (
        ((normal(7, 2), 3, normal(7, 2)), "from 2 to 6, got 7"),
        ((normal(4, 2), 3, normal(5, 2)), "got 5"),
        ((normal(4, 2), 4, normal(4, 2)), "== 3, got 4"),
        ((normal(4, 2).double(), 3, normal(4, 2)), "dtype"),
        ((normal(4, 2)[None], 3, normal(4, 2)), "dim"),
        ((normal(4, 2), 3), "exported for"),
    ):
        with pytest.raises(AssertionError, match=f"Guard failed: .*{said}"):
            run(*args)


def test_keyword_arguments_in_any_order():
    module = function(lambda x, *, a, b: x * a - b)
    run = export(module, (taeda.ones(2),), {"a": taeda.ones(2) * 3, "b": taeda.ones(2)}).module()
    assert run(taeda.ones(2), b=taeda.ones(2) * 5, a=taeda.ones(2)).tolist() == [-4.0, -4.0]


def test_formulas_of_a_dim():
    n = Dim("n")
    program = export(
        function(lambda x, y: x.sum() + y),
        (normal(3), normal(7)),
        dynamic_shapes=({0: n}, {0: 2 * n + 1}),
    )
    assert program.module()(normal(5), normal(11)).shape == (11,)
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(normal(5), normal(12))


def test_a_branch_on_a_size():
    branch = function(lambda x: x * 2 if x.shape[0] > 4 else x - 1)
    with pytest.raises(UserError, match=r"(?s)only where n > 4.*n = Dim\('n', min=5\)"):
        export(branch, (normal(6),), dynamic_shapes=({0: Dim("n")},))
    above = export(branch, (normal(6),), dynamic_shapes=({0: Dim("n", min=5)},)).module()
    assert above(normal(9)).equal(normal(9) * 2)
    auto = export(branch, (normal(6),), dynamic_shapes=({0: Dim.AUTO},)).module()
    assert auto(normal(9)).equal(normal(9) * 2)
    with pytest.raises(AssertionError, match="from 5 to"):
        auto(normal(3))
    below = export(branch, (normal(3),), dynamic_shapes=({0: Dim.AUTO},))
    assert below.range_constraints["s0"].upper == 4, "the branch is that of the example"
    assert below.module()(normal(2)).equal(normal(2) - 1)


def test_a_size_of_which_another_one_is_read():
    multiple = function(lambda x: (x[1:].view(-1, 4) + x.shape[0], x.new_zeros(x.shape[0] // 4)))
    program = export(multiple, (normal(9),), dynamic_shapes=({0: 8 * Dim("n") + 1},))
    assert "floordiv" in str(program.graph)


def test_a_program_that_is_another_one_at_1():
    branch = function(lambda x: x * 2 if x.shape[0] == 1 else x - 1)
    program = export(branch, (normal(6),), dynamic_shapes=({0: Dim("n")},))
    assert program.range_constraints["s0"].lower == 2
    with pytest.raises(AssertionError, match="from 2 to"):
        program.module()(normal(1))


def test_a_size_that_is_limited_and_then_a_number():
    class Limited(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("weight", taeda.ones(16, 5))

        def forward(self, x):
            return x @ self.weight[: x.shape[0]], x.split(2)[0]  # at most 16, then none but 4

    program = export(Limited(), (taeda.ones(4),), dynamic_shapes=({0: Dim.AUTO},))
    assert all(
        a.equal(b)
        for a, b in zip(program.module()(taeda.ones(4)), Limited()(taeda.ones(4)), strict=True)
    )


def test_a_size_that_the_program_fixes():
    fixing = function(lambda x: taeda.stack([row * 2 for row in x]))
    with pytest.raises(UserError, match=r"(?s)Constraints violated \(n\).*n = None  # 3"):
        export(fixing, (normal(3, 2),), dynamic_shapes=({0: Dim("n")},))
    with pytest.raises(UserError, match="Constraints violated"):
        export(fixing, (normal(3, 2),), dynamic_shapes=({0: Dim.DYNAMIC},))
    program = export(fixing, (normal(3, 2),), dynamic_shapes=({0: Dim.AUTO},))
    assert program.module()(normal(3, 2)).equal(normal(3, 2) * 2)
    assert program.range_constraints == {}


@pytest.mark.parametrize(
    ("shapes", "said"),
    [
        (({0: Dim("n", max=2)},), "n from 0 to 2, and it is 3"),
        (({5: Dim("n")},), "no dimension of a tensor of 2"),
        (({0: "n"},), "wanted a Dim"),
        (({0: 4},), "is 4, and it is 3"),
        (({0: Dim("n"), 1: Dim("n")},), "n is 3 elsewhere, and 2"),
        ({"y": None}, "names"),
        ((None, None), "an entry for each of the 1 arguments"),
    ],
)
def test_demands_that_cannot_be(shapes, said):
    with pytest.raises(UserError, match=said):
        export(nn.Linear(2, 2), (normal(3, 2),), dynamic_shapes=shapes)


@pytest.mark.parametrize(
    ("f", "error", "said"),
    [
        (lambda x: x * float(x.sum()), RuntimeError, "value"),
        (lambda x: {1, 2}, UserError, "gives a set"),
    ],
)
def test_programs_that_are_refused(f, error, said):
    with pytest.raises(error, match=said):
        export(function(f), (normal(3, 2),), dynamic_shapes=({0: Dim.AUTO},))


def test_arguments_of_export():
    with pytest.raises(TypeError, match="args must be a tuple"):
        export(nn.Linear(2, 2), normal(3, 2))
    with pytest.raises(TypeError, match=r"taeda\.nn\.Module"):
        export(lambda x: x, (normal(3, 2),))
    with pytest.raises(UserError, match="forward of Linear"):
        export(nn.Linear(2, 2), (normal(3, 2), 1))


def test_a_program_is_not_called_itself():
    program = export(nn.Linear(2, 2), (normal(3, 2),))
    with pytest.raises(RuntimeError, match="is data and cannot be called"):
        program(normal(3, 2))
    assert "p_weight: PARAMETER target='weight'" in str(program)
    assert [n for n, _ in program.named_parameters()] == ["weight", "bias"]


MODELS = models(taeda)


@pytest.mark.parametrize("name", MODELS)
def test_models_are_right_at_four_sets_of_sizes(name):
    model, (b, t) = MODELS[name], (Dim("b", max=64), Dim("t", max=64))
    known = {"b": b, "t": t, "2*b": 2 * b, "2*t": 2 * t}
    shapes = tuple({dim: known[text] for dim, text in shape.items()} for shape in model.shapes)
    module = model.make().eval()
    run = export(module, model.given(*SETS[0]), dynamic_shapes=shapes).module()
    for one in SETS:
        for a, w in zip(
            tree_leaves(run(*model.given(*one))),
            tree_leaves(module(*model.given(*one))),
            strict=True,
        ):
            if name == "spatial":  # its grid is read in another order in eager mode
                taeda.testing.assert_close(a, w)
            else:
                assert a.equal(w), one


class Parts(nn.Module):
    """Results whose number is another one for the least sizes, also of a module inside."""

    def __init__(self, inner=None):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x.chunk(2) if self.inner is None else {"first": self.inner(x)[0] + 1, "all": x}


@pytest.mark.parametrize("kept", [(), ("inner",)])
def test_results_are_those_of_the_trace_and_not_of_the_last_size_tried(kept):
    model = Parts(Parts()) if kept else Parts()
    program = export(
        model,
        (taeda.ones(4, 3),),
        dynamic_shapes=({0: Dim("n", min=1)},) if kept else ({0: Dim.AUTO},),
        preserve_module_call_signature=kept,
    )
    calls = [e.signature for e in program.module_call_graph if e.fqn == "inner"]
    assert [len(c.outputs) for c in calls] == [2] * len(kept)
    for n in (2, 3, 4, 7):
        x = taeda.arange(3.0 * n).view(n, 3)
        got, wanted = (tree_leaves(f(x)) for f in (program.module(), model))
        assert len(got) == len(wanted) and all(a.equal(b) for a, b in zip(got, wanted, strict=True))


def test_sizes_that_are_small_together_are_tried():
    def bent(x, y):
        rows = taeda.cat([x, y]).diagonal()  # of 3 at most, and of 2 where both have one row
        return rows @ taeda.ones(5, 2)[: rows.shape[0]]

    given = taeda.ones(4, 3), taeda.ones(6, 3)
    program = export(Of(bent), given, dynamic_shapes=({0: Dim.AUTO}, {0: Dim.AUTO}))
    for n, m in ((4, 6), (2, 2), (9, 3)):
        x, y = taeda.ones(n, 3), taeda.ones(m, 3)
        assert program.module()(x, y).equal(bent(x, y))
    with pytest.raises(AssertionError, match="Guard failed"):
        program.module()(taeda.ones(1, 3), taeda.ones(1, 3))


def test_sizes_with_another_rank_are_no_sizes_of_the_program():
    def squeezed(x):
        return x[::2].squeeze() * 2  # of one row for 1 and 2

    program = export(Of(squeezed), (taeda.ones(4, 3, 4),), dynamic_shapes=({0: Dim.AUTO},))
    assert program.range_constraints["s0"].lower == 3
    for n in (3, 4, 9):
        assert program.module()(taeda.ones(n, 3, 4)).equal(squeezed(taeda.ones(n, 3, 4)))
    with pytest.raises(AssertionError, match="from 3 to"):
        program.module()(taeda.ones(2, 3, 4))
