"""Branches and loops as nodes of a program, with the functions that they call."""

from __future__ import annotations

import copy
import io
import json
import zipfile

import pytest
from control_models import CASES, Branch, Loop
from program_models import normal

import taeda
from taeda import nn
from taeda._core_api.files import FormatError
from taeda._higher_order_ops import map as map_of
from taeda._higher_order_ops import scan
from taeda.export import Dim, export, load, save
from taeda.utils._pytree import tree_leaves

MODELS = [Branch, Loop]


def same(made, wanted):
    assert len(made) == len(wanted)
    assert all(a.equal(b) for a, b in zip(made, wanted, strict=True))


def saved(program):
    file = io.BytesIO()
    save(program, file)
    return file.getvalue()


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("shapes", [None, ({0: Dim("n")},)])
def test_both_ways_are_in_the_program_and_in_its_file(kind, shapes):
    model = kind()
    program = export(model, (normal(3, 4),), dynamic_shapes=shapes)
    back = load(io.BytesIO(saved(program)))
    for n in (3, 3) if shapes is None else (2, 3, 7):
        for x in (normal(n, 4).abs(), -normal(n, 4).abs()):
            same(program.module()(x), model(x))
            same(back.module()(x), model(x))


def test_gradients_flow_through_the_branch_that_is_taken():
    model = Branch()
    run = export(model, (normal(3, 4),)).module()
    for x in (taeda.ones(3, 4), -taeda.ones(3, 4)):
        grads = []
        for function in (model, run):
            model.zero_grad()
            function(x)[0].sum().backward() if x[0, 0] > 0 else function(x)
            grads.append(copy.deepcopy(model.linear.weight.grad))
        if grads[0] is not None:
            assert grads[0].equal(grads[1])


def functions(document):
    nodes = document["graph_module"]["graph"]["nodes"]
    return next(n for n in nodes if n["target"] == "torch.ops.higher_order.cond")


def scans(document):
    nodes = document["graph_module"]["graph"]["nodes"]
    return next(n for n in nodes if n["target"] == "torch.ops.higher_order.scan")


def first_graph(document):
    return functions(document)["inputs"][1]["arg"]["as_graph"]["graph"]


SCANS = {
    "no slices": lambda s: s["inputs"].__setitem__(
        2, {"name": "", "arg": {"as_tensors": []}, "kind": 1}
    ),
    "no function": lambda s: s["inputs"].pop(0),
    "a carry too many": lambda s: s["inputs"][1]["arg"]["as_tensors"].append({"name": "x"}),
    "a result too few": lambda s: s["outputs"].pop(),
}
CHANGES = {
    f"a scan of {name}": (lambda d, c=change: c(scans(d))) for name, change in SCANS.items()
} | {
    "a function too few": lambda d: functions(d)["inputs"].pop(1),
    "a tensor too few": lambda d: functions(d)["inputs"][3]["arg"]["as_tensors"].pop(),
    "a result too few": lambda d: first_graph(d)["outputs"].pop(),
    "an unknown value": lambda d: first_graph(d)["outputs"].append({"as_tensor": {"name": "no"}}),
    "an unknown operator": lambda d: first_graph(d)["nodes"][0].update(target="os.system"),
    "a function as pred": lambda d: functions(d)["inputs"].reverse(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_files_with_other_functions_are_refused(name):
    case = CASES["scan" if name.startswith("a scan") else "branch"]
    source = zipfile.ZipFile(io.BytesIO(saved(export(case.make(), case.given(3, 2)))))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        for entry in source.namelist():
            content = source.read(entry)
            if entry.endswith("model.json"):
                document = json.loads(content)
                CHANGES[name](document)
                content = json.dumps(document).encode()
            archive.writestr(entry, content)
    made.seek(0)
    with pytest.raises(FormatError):
        load(made)


@pytest.mark.parametrize("name", ["scan", "sums"])
def test_a_scan_is_one_node_for_any_number_of_slices(name):
    case = CASES[name]
    model = case.make()
    program = export(model, case.given(4, 2), dynamic_shapes=case.shapes)
    assert [n.name for n in program.graph.nodes].count("scan") == 1
    back = load(io.BytesIO(saved(program)))
    plain = program.run_decompositions()
    for n, m in ((4, 2), (7, 3), (1, 1), (2, 5)):
        wanted = tree_leaves(model(*case.given(n, m)))
        for run in (program, back, plain):
            same(tree_leaves(run.module()(*case.given(n, m))), wanted)


def test_gradients_flow_through_all_steps_of_a_scan():
    case = CASES["scan"]
    model = case.make()
    run = export(model, case.given(4, 2), dynamic_shapes=case.shapes).module()
    grads = []
    for function in (model, run):
        model.zero_grad()
        sum(v.sum() for v in function(*case.given(6, 3))).backward()
        grads.append([p.grad.clone() for p in model.parameters()])
    same(*grads)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


UNROLLED = {
    "random numbers": lambda x: map_of(lambda row: row + taeda.rand(3), x),
    "inside of a vmap": lambda x: taeda.func.vmap(lambda v: map_of(lambda e: e.sin() + e, v))(x),
}


@pytest.mark.parametrize("name", UNROLLED)
def test_what_can_be_no_node_is_written_out(name):
    program = export(Function(UNROLLED[name]), (normal(2, 3),))
    assert not any(n.name in ("scan", "map_1") for n in program.graph.nodes)
    taeda.manual_seed(0)
    wanted = UNROLLED[name](normal(2, 3))
    taeda.manual_seed(0)
    assert program.module()(normal(2, 3)).equal(wanted)


def test_what_is_refused_in_eager_mode_is_refused_in_a_trace():
    with pytest.raises(RuntimeError, match="the carry must keep"):
        export(Function(lambda x: scan(lambda c, v: ((c, c), v * 2), x[0], x)), (normal(2, 3),))


def test_a_gradient_of_a_scan_inside_of_the_program_is_refused():
    def slope(x):
        y = x.clone().requires_grad_()
        total = scan(lambda c, v: (c + v * v, v.sin()), y.new_zeros(3), y)[0].sum()
        return taeda.autograd.grad(total, y)[0]

    with pytest.raises(Exception, match="no graph of"):
        export(Function(slope), (normal(2, 3),))
