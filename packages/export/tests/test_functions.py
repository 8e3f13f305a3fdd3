"""Branches and loops as nodes of a program, with the functions that they call."""

from __future__ import annotations

import copy
import io
import json
import zipfile

import pytest
from program_models import normal

import taeda
from taeda import nn
from taeda._core_api.files import FormatError
from taeda._higher_order_ops.while_loop import while_loop
from taeda.export import Dim, export, load, save


class Branch(nn.Module):
    """One branch reads parameters, the other one a constant and a buffer."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("shift", taeda.tensor(3.0))

    def forward(self, x):
        def other(x):
            return x * taeda.tensor([1.0, 2.0, 3.0, 4.0]), x + self.shift

        return taeda.cond(x.sum() > 0, lambda x: (self.linear(x), x.sin()), other, (x,))


class Loop(nn.Module):
    """A loop with a branch in it."""

    def forward(self, x):
        def step(i, y):
            return i + 1, taeda.cond(y.sum() > 10, lambda y: y - 1, lambda y: y * 2, (y,))

        return while_loop(lambda i, y: i < 4, step, (taeda.tensor(0), x.abs()))


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


def first_graph(document):
    return functions(document)["inputs"][1]["arg"]["as_graph"]["graph"]


CHANGES = {
    "a function too few": lambda d: functions(d)["inputs"].pop(1),
    "a tensor too few": lambda d: functions(d)["inputs"][3]["arg"]["as_tensors"].pop(),
    "a result too few": lambda d: first_graph(d)["outputs"].pop(),
    "an unknown value": lambda d: first_graph(d)["outputs"].append({"as_tensor": {"name": "no"}}),
    "an unknown operator": lambda d: first_graph(d)["nodes"][0].update(target="os.system"),
    "a function as pred": lambda d: functions(d)["inputs"].reverse(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_files_with_other_functions_are_refused(name):
    source = zipfile.ZipFile(io.BytesIO(saved(export(Branch(), (normal(3, 4),)))))
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
