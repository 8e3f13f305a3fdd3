"""Calls of modules inside of a program that are kept as they were."""

from __future__ import annotations

import copy

import pytest
from exported_files import loaded

import taeda
from taeda import nn
from taeda.compiler._errors import UserError
from taeda.export import Dim, draft_export, export, unflatten
from taeda.export._kept_calls import KeptCalls, entries_renamed, kept_names
from taeda.export.graph_signature import TensorArgument


class Part(nn.Module):
    """Arguments by position and by name, one of them unread, and a tree of results with constants."""

    def __init__(self, writes):
        super().__init__()
        self.layer, self.norm = nn.Linear(4, 4), nn.LayerNorm(4)
        self.register_buffer("count", taeda.zeros(()))
        self.writes = writes

    def forward(self, x, pair, *, scale=None, unread=None, times=1):
        if self.writes:
            self.count.add_(1)
        y = self.norm(self.layer(x) + pair["a"]).reshape(x.shape[0] * 2, 2) * scale
        return {"y": y, "z": [pair["b"] * times, None, "text"]}


class Around(nn.Module):
    def __init__(self, writes):
        super().__init__()
        self.part, self.before = Part(writes), nn.Linear(4, 4)

    def forward(self, x, other):
        pair = {"a": x, "b": x + 1}
        made = self.part(self.before(x), pair, times=2, scale=x.sum(), unread=other)
        return made["y"].reshape(-1, 4) + made["z"][0]


class Model(nn.Module):
    def __init__(self, writes=True):
        super().__init__()
        self.around = Around(writes)

    def forward(self, x):
        y = self.around(x, x * 3)
        return self.around(y, y.relu()).reshape(x.shape[0] * 2, 2)


def given(n):
    return taeda.arange(4.0 * n).reshape(n, 4) / 7


def exported(model, *paths):
    shapes = ({0: Dim("n")},)
    return export(model, (given(3),), dynamic_shapes=shapes, preserve_module_call_signature=paths)


WAYS = {
    "exported": lambda program: program,
    "loaded": loaded,
    "decomposed": lambda program: program.run_decompositions(),
    "decomposed-loaded": lambda program: loaded(program.run_decompositions()),
    "loaded-decomposed": lambda program: loaded(program).run_decompositions(),
}


@pytest.mark.parametrize("paths", [("around.part",), ("around",), ("around", "around.part")])
@pytest.mark.parametrize("way", WAYS)
def test_modules_take_their_arguments_and_give_their_results(way, paths):
    model = Model("decomposed" not in way)
    program = WAYS[way](exported(model, *paths))
    calls = [entry.fqn for entry in program.module_call_graph]
    assert sorted(calls) == sorted(["", *(f"{p}{k}" for p in paths for k in ("", "@1"))])
    made, twin = unflatten(program), copy.deepcopy(model)
    for n in (3, 1, 5):
        assert made(given(n)).equal(twin(given(n))), n
    assert set(made.state_dict()) == set(model.state_dict())
    if "around" in paths:
        for module, wanted in zip(
            made.around.call_modules(), (twin.around, twin.around), strict=True
        ):
            assert module(given(2), given(2)).equal(wanted(given(2), given(2)))
    if "around.part" in paths:
        part = made.around.call_modules()[0].part
        named = {"unread": given(2), "times": 2, "scale": given(2).sum()}
        pair = {"a": given(2), "b": given(2)}
        found, wanted = part(given(2), pair, **named), twin.around.part(given(2), pair, **named)
        assert found["y"].equal(wanted["y"]) and found["z"][0].equal(wanted["z"][0])
        assert found["z"][1:] == [None, "text"]
        with pytest.raises(ValueError, match=r"Part was exported with 2, got 3"):
            part(given(2), pair, **(named | {"times": 3}))
        with pytest.raises(TypeError, match="Part gets arguments of the tree"):
            part(given(2), [given(2), given(2)], **named)


def test_another_module_takes_the_place():
    class Other(nn.Module):
        def forward(self, x, pair, *, scale, unread, times):
            assert times == 2 and list(pair) == ["a", "b"]
            return {"y": x.reshape(-1, 2) * 0, "z": [unread, None, "text"]}

    class Wrong(nn.Module):
        def forward(self, x, pair, **named):
            return x

    made = unflatten(exported(Model(), "around.part"))
    made.around.call_modules()[0].part = Other()
    made.around.call_modules()[1].part = Other()
    x = given(3)
    assert made(x).equal((x * 3).relu().reshape(-1, 2))
    made.around.call_modules()[1].part = Wrong()
    with pytest.raises(TypeError, match="the module gives a result of the tree"):
        made(x)


class Passes(nn.Module):
    """A part that runs no operator, a part that gets a size, and one whose argument is written."""

    def __init__(self, how):
        super().__init__()
        self.part, self.how = Named(how), how

    def forward(self, x):
        y = x + 1
        if self.how == "hides":
            self.part(y)
            return self.part.hidden
        made = self.part(y, x.shape[0]) if self.how == "size" else self.part(y)
        if self.how == "written":
            y.add_(1)
        return made + y


class Named(nn.Module):
    def __init__(self, how):
        super().__init__()
        self.how, self.hidden = how, None

    def forward(self, y, size=None):
        self.hidden = y * 3
        if self.how == "class":
            return {1, 2}
        return y if self.how == "identity" else self.hidden + 1


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("written", "writes into a tensor that part got or gave"),
        ("class", "part gets or gives a set"),
    ],
)
def test_calls_that_cannot_be_kept(how, said):
    with pytest.raises(UserError, match=said):
        exported(Passes(how), "part")


def test_what_lies_inside_and_is_no_result():
    program = exported(Passes("hides"), "part")
    assert program.module()(given(2)).equal((given(2) + 1) * 3)
    with pytest.raises(NotImplementedError, match="no argument or result of it"):
        unflatten(program)


def test_names_that_are_none():
    with pytest.raises(TypeError, match=r"write \('encoder',\)"):
        export(Model(), (given(3),), preserve_module_call_signature="around")
    for name in ("around.gone", ""):
        with pytest.raises(UserError, match="no module inside"):
            exported(Model(), name)
    model = nn.Sequential(nn.Linear(4, 4))
    model.unused = nn.Linear(4, 4)
    model.forward = model[0].forward
    with pytest.raises(UserError, match="does not run"):
        exported(model, "unused")


def test_names_of_nodes():
    entries = exported(Model(), "around").module_call_graph[1:]
    names = kept_names(entries)
    assert len(names) == len(set(names)) and names[0] == "x"
    assert entries_renamed(entries, {n: TensorArgument(n) for n in names}) == entries
    assert KeptCalls(Model(), ()).values() == []


def test_a_draft_keeps_them_as_well():
    part = ("around",)
    program = draft_export(Model(), (given(3),), preserve_module_call_signature=part)
    assert [e.fqn for e in program.module_call_graph] == ["", "around", "around@1"]
