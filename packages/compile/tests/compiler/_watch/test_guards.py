"""Guards: each kind holds while nothing changed, fails for the change that it is there for, and
says so in words.
"""

from __future__ import annotations

import math
import types
from collections import OrderedDict

import pytest

import taeda
from taeda import nn
from taeda.compiler._watch.guards import Guards, same_value, tensors_are_plain


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        (1, 1, True), (1, 1.0, False), (True, 1, False), (0.0, -0.0, False), (math.nan, float("nan"), True),
        ("ab", "".join(["a", "b"]), True), ((1, 2), (1, 3), False), ([], [], False),
        (taeda.float32, taeda.float32, True),
        (taeda.Size([2]), taeda.Size([2]), True), (1j, complex(0, 1), True), (None, False, False),
        (slice(1), slice(1), True),
    ],
)  # fmt: skip
def test_values_are_the_same_by_equality_or_by_identity(a, b, same):
    assert same_value(a, b) is same
    assert same_value(a, a)


class Owner:
    size = 3

    def method(self):
        return 1

    def other(self):
        return 2


def scaled(x, by=2, *, more=3):
    return x * by * more


def guarded(add):
    guards = Guards()
    add(guards)
    holds, failing = guards.compiled()
    assert holds() and failing() == ""
    return holds, failing, guards


def cell_of(value):
    def inner():
        return value

    return inner.__closure__[0]


def attribute():
    owner = Owner()
    return lambda g: g.attribute(owner, "size", 3), lambda: setattr(owner, "size", 4), "Owner"


def attribute_of_an_odd_name():
    owner = Owner()
    setattr(owner, "a b", 1)
    return lambda g: g.attribute(owner, "a b", 1), lambda: setattr(owner, "a b", 2), "a b"


def method():
    owner = Owner()
    return (
        lambda g: g.attribute(owner, "method", owner.method),
        lambda: setattr(owner, "method", owner.other),
        "method",
    )


def item():
    owner = {"k": 1.5}
    return lambda g: g.item(owner, "k", 1.5), lambda: owner.update(k=-1.5), r"\['k'\]"


def item_of_a_list():
    owner = [1, 2]
    return lambda g: g.item(owner, 1, 2), lambda: owner.pop(), r"\[1\]"


def variable():
    space = {"x": 1}
    return lambda g: g.variable(space, "x", 1), lambda: space.pop("x"), "global x"


def no_variable():
    space = {}
    return lambda g: g.no_variable(space, "len"), lambda: space.update(len=1), "no global len"


def cell():
    made = cell_of(5)
    return (
        lambda g: g.cell(made, "value", 5),
        lambda: setattr(made, "cell_contents", 6),
        "variable value",
    )


def contents():
    owner = {"a": 1, "b": [2]}
    return lambda g: g.contents(owner), lambda: owner.update(b=[2]), "contents of"


def order():
    owner = OrderedDict(a=1, b=2)
    return lambda g: g.contents(owner), lambda: owner.move_to_end("a"), "contents of"


def contents_of_a_list():
    owner = [1, 2]
    return lambda g: g.contents(owner), lambda: owner.append(3), "contents of"


def contents_but_one():
    owner = {"lr": 0.1, "momentum": 0.9}
    return lambda g: g.contents(owner, without="lr"), lambda: owner.update(momentum=0.8), "momentum"


def keys():
    owner = {"lr": 0.1}
    return lambda g: g.contents(owner, without="lr"), lambda: owner.update(more=1), "keys of"


def absent():
    owner = Owner()
    return lambda g: g.absent(owner, "note"), lambda: setattr(owner, "note", 1), "no Owner"


def defaults():
    f = types.FunctionType(scaled.__code__, globals(), "f", (2,))
    f.__kwdefaults__ = {"more": 3}
    return lambda g: g.function(f), lambda: setattr(f, "__defaults__", (5,)), "code of"


def keyword_defaults():
    f = types.FunctionType(scaled.__code__, globals(), "f", (2,))
    f.__kwdefaults__ = {"more": 3}
    return lambda g: g.function(f), lambda: f.__kwdefaults__.update(more=4), "code of"


def expression():
    owner = [3]
    return (
        lambda g: g.expression("$a[0] == $b", "first is b", a=owner, b=3),
        lambda: owner.__setitem__(0, 4),
        "first is b",
    )


def mode_of_a_module():
    module = nn.Linear(2, 2)
    return lambda g: g.module(module), module.eval, "Linear"


def parameter_of_a_module():
    module = nn.Linear(2, 2)
    return lambda g: g.module(module), lambda: setattr(module, "bias", None), "Linear"


def layer_past_its_own_ways():
    module = nn.LeakyReLU(0.5)
    change = lambda: object.__setattr__(module, "negative_slope", 0.1)  # noqa: E731
    return lambda g: g.module(module), change, "LeakyReLU"


def dict_of_a_layer():
    module = nn.LeakyReLU(0.5)
    change = lambda: object.__setattr__(module, "__dict__", dict(module.__dict__))  # noqa: E731
    return lambda g: g.module(module), change, "LeakyReLU"


def class_of_a_layer():
    module = nn.ReLU()
    return lambda g: g.module(module), lambda: setattr(module, "__class__", nn.Tanh), "ReLU"


KINDS = [attribute, attribute_of_an_odd_name, method, item, item_of_a_list, variable, no_variable,
         cell, contents, order,
         contents_of_a_list, contents_but_one, keys, absent, defaults, keyword_defaults, expression,
         mode_of_a_module,
         parameter_of_a_module, layer_past_its_own_ways, dict_of_a_layer, class_of_a_layer]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_a_guard_fails_for_its_change_and_says_which(kind):
    add, change, words = kind()
    holds, failing, guards = guarded(add)
    assert len(guards) == len(guards.describe()) > 0
    change()
    assert not holds()
    assert words.replace("\\", "") in failing()


OPERATORS = [n for n, v in vars(taeda.Tensor).items() if isinstance(v, types.WrapperDescriptorType)]
UNASKED = ["__iter__", "__reversed__", "__deepcopy__"]


@pytest.mark.parametrize("name", sorted({*OPERATORS, *UNASKED} - {"__init__"}))
def test_a_method_that_python_calls_of_tensors_by_itself_is_guarded(name, monkeypatch):
    holds, failing, _ = guarded(lambda g: g.tensors())
    assert tensors_are_plain()
    with monkeypatch.context() as patch:
        patch.setattr(taeda.Tensor, name, lambda *args: None)
        assert not holds()
        assert tensors_are_plain() is (name in UNASKED)
    assert holds() and failing() == "" and tensors_are_plain()
    later, *_ = guarded(lambda g: g.tensors())  # Python calls what was put back in another way
    monkeypatch.setattr(taeda.Tensor, name, lambda *args: None)
    assert not later() and not holds()


def test_operators_of_parameters_are_guarded(monkeypatch):
    holds, *_ = guarded(lambda g: g.tensors())
    monkeypatch.setattr(nn.Parameter, "__mul__", lambda *args: None, raising=False)
    assert not holds()


def test_the_value_that_is_left_out_may_change():
    group = {"lr": 0.1, "momentum": 0.9}
    holds, *_ = guarded(lambda g: g.contents(group, without="lr"))
    group["lr"] = 0.5
    assert holds()


def test_a_guard_counts_once():
    owner = Owner()
    guards = Guards()
    for _ in range(3):
        guards.attribute(owner, "size", 3)
        guards.module(layer := nn.ReLU()) if not guards.modules else guards.module(layer)
    assert guards.describe().count("ReLU module is as it was") == 1
    assert len(set(guards.describe())) == len(guards)


def test_a_value_that_goes_and_comes_back_holds_again():
    owner = Owner()
    holds, *_ = guarded(lambda g: g.attribute(owner, "size", 3))
    owner.size = 4
    assert not holds()
    owner.size = 3
    assert holds()


def test_many_guards_are_one_answer():
    owner = {n: n for n in range(450)}
    holds, failing, _ = guarded(lambda g: [g.item(owner, n, n) for n in owner])
    owner[449] = 0
    assert not holds() and "[449]" in failing()


def test_without_guards_all_holds():
    holds, failing, guards = guarded(lambda g: None)
    assert holds() and failing() == "" and len(guards) == 0
