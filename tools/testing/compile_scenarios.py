"""Programs that are called, changed around, and called again: each gives the same with and without compile.

A scenario takes `compile` (or what leaves programs as they are) and returns all results. `thrice` calls often enough that a captured
graph is trusted and runs by itself.
"""

from __future__ import annotations

import functools
import math
import os
import random
import types
from collections import OrderedDict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import taeda
import taeda.nn.functional as F
from taeda import Tensor, nn

#: name -> (what changes, program)
SCENARIOS: dict[str, tuple[str, Callable[[Any], Any]]] = {}
#: those of which no graph is expected
EAGER: set[str] = set()


def scenario(what: str, *, eager: bool = False) -> Any:
    """Register a program; `eager` says that it is to stay as it is."""

    def add(program: Any) -> Any:
        name = program.__name__.removeprefix("s_")
        SCENARIOS[name] = (what, program)
        if eager:
            EAGER.add(name)
        return program

    return add


def kept(value: Any) -> Any:
    """A copy of results that later calls do not change."""
    if isinstance(value, Tensor):
        return value.detach().clone()
    if isinstance(value, (list, tuple)):
        return [kept(v) for v in value]
    if isinstance(value, dict):
        return {k: kept(v) for k, v in value.items()}
    return value


def thrice(f: Any, *args: Any, **kwargs: Any) -> list[Any]:
    return [kept(f(*args, **kwargs)) for _ in range(3)]


def data(*shape: int, seed: int = 0) -> Tensor:
    return taeda.randn(*(shape or (3, 4)), generator=taeda.Generator().manual_seed(seed))


# ---- what a function reads ----
SCALE = 2.0
FLAG = True
TABLE = {"a": 1.0, "inner": {"k": 2.0}}
LIST = [1.0, 2.0]
WEIGHT = data(4, seed=7)
MODULE = types.SimpleNamespace(factor=3.0)


def helper(x: Tensor) -> Tensor:
    return x + 1


def other_helper(x: Tensor) -> Tensor:
    return x - 1


@scenario("a global number")
def s_global_number(c):
    global SCALE
    f = c(lambda x: x * SCALE)
    found = thrice(f, data())
    SCALE = 3.0
    found += thrice(f, data())
    SCALE = 2.0
    return found + thrice(f, data())


@scenario("a global flag")
def s_global_flag(c):
    global FLAG

    def f(x):
        if FLAG:
            return x.sin()
        return x.cos()

    g = c(f)
    found = thrice(g, data())
    FLAG = False
    found += thrice(g, data())
    FLAG = True
    return found


@scenario("an entry of a global dict")
def s_dict_entry(c):
    f = c(lambda x: x * TABLE["a"] + TABLE["inner"]["k"])
    found = thrice(f, data())
    TABLE["inner"]["k"] = 5.0
    found += thrice(f, data())
    TABLE["inner"]["k"] = 2.0
    return found


@scenario("dict.get of a missing key")
def s_dict_get(c):
    table: dict[str, float] = {}
    f = c(lambda x: x * table.get("rate", 2.0))
    found = thrice(f, data())
    table["rate"] = 7.0
    return found + thrice(f, data())


@scenario("`in` a dict")
def s_in_dict(c):
    table: dict[str, float] = {}

    def f(x):
        return x.exp() if "fast" in table else x.sin()

    g = c(f)
    found = thrice(g, data())
    table["fast"] = 1.0
    return found + thrice(g, data())


@scenario("a list grows")
def s_list_grows(c):
    factors = [1.0, 2.0]

    def f(x):
        for k in factors:
            x = x * k
        return x

    g = c(f)
    found = thrice(g, data())
    factors.append(3.0)
    return found + thrice(g, data())


@scenario("an item of a list")
def s_list_item(c):
    factors = [1.0, 2.0]
    f = c(lambda x: x * factors[-1])
    found = thrice(f, data())
    factors[-1] = 4.0
    return found + thrice(f, data())


@scenario("a list in a list that is unpacked")
def s_nested_list(c):
    pairs = [["a", [1.0, 2.0]], ["b", [3.0, 4.0]]]
    by_name = {"x": [2.0, 3.0]}

    def f(x):
        for _, (k, m) in pairs:
            x = x * k + m
        for k, m in by_name.values():
            x = x * k - m
        first, (second, _) = by_name["x"], pairs[0][1]
        return x + first[0] + second

    g = c(f)
    found = thrice(g, data())
    pairs[1][1][0] = 9.0
    found += thrice(g, data())
    by_name["x"][1] = -5.0
    return found + thrice(g, data())


@scenario("len of a list")
def s_list_length(c):
    items = [object()]
    f = c(lambda x: x * len(items))
    found = thrice(f, data())
    items.append(object())
    return found + thrice(f, data())


@scenario("a slice of a list")
def s_list_slice(c):
    items = [1.0, 2.0, 3.0]
    f = c(lambda x: x * sum(items[:2]))
    found = thrice(f, data())
    items[0] = 9.0
    return found + thrice(f, data())


@scenario("sorted() of a list")
def s_sorted(c):
    items = [3.0, 1.0]
    f = c(lambda x: x * sorted(items)[0])
    found = thrice(f, data())
    items.append(0.5)
    return found + thrice(f, data())


@scenario("an empty list is tested")
def s_truth_of_list(c):
    items: list[int] = []
    f = c(lambda x: x + 1 if items else x - 1)
    found = thrice(f, data())
    items.append(1)
    return found + thrice(f, data())


@scenario("a set")
def s_set(c):
    names = {"relu"}
    f = c(lambda x: x.relu() if "relu" in names else x)
    found = thrice(f, data())
    names.clear()
    return found + thrice(f, data())


@scenario("a variable of the function around")
def s_closure(c):
    rate = 2.0

    def change(value):
        nonlocal rate
        rate = value

    f = c(lambda x: x * rate)
    found = thrice(f, data())
    change(5.0)
    return found + thrice(f, data())


@scenario("a tensor in a closure is exchanged")
def s_closure_tensor(c):
    weight = data(4, seed=1)

    def change():
        nonlocal weight
        weight = data(4, seed=2)

    f = c(lambda x: x * weight)
    found = thrice(f, data())
    change()
    return found + thrice(f, data())


@scenario("a tensor in a closure is written in place")
def s_closure_tensor_written(c):
    weight = data(4, seed=1)
    f = c(lambda x: x * weight)
    found = thrice(f, data())
    weight.add_(1)
    return found + thrice(f, data())


@scenario("a global function is exchanged")
def s_global_function(c):
    space = {"helper": helper, "f": None, "__name__": __name__}
    f = c(lambda x: helper(x) * 2)
    found = thrice(f, data())
    before = globals()["helper"]
    globals()["helper"] = other_helper
    found += thrice(f, data())
    globals()["helper"] = before
    del space
    return found


@scenario("the code of a function is exchanged")
def s_code(c):
    def inner(x):
        return x + 1

    def other(x):
        return x * 10

    f = c(lambda x: inner(x))
    found = thrice(f, data())
    inner.__code__ = other.__code__
    return found + thrice(f, data())


@scenario("defaults of a function")
def s_defaults(c):
    def inner(x, k=2.0):
        return x * k

    f = c(lambda x: inner(x))
    found = thrice(f, data())
    inner.__defaults__ = (5.0,)
    return found + thrice(f, data())


@scenario("defaults of keywords")
def s_keyword_defaults(c):
    def inner(x, *, k=2.0):
        return x * k

    f = c(lambda x: inner(x))
    found = thrice(f, data())
    inner.__kwdefaults__["k"] = 5.0
    return found + thrice(f, data())


@scenario("defaults of the compiled function itself")
def s_own_defaults(c):
    def inner(x, k=2.0):
        return x * k

    f = c(inner)
    found = thrice(f, data())
    inner.__defaults__ = (5.0,)
    return found + thrice(f, data())


@scenario("keywords of a partial")
def s_partial(c):
    def inner(x, k):
        return x * k

    part = functools.partial(inner, k=2.0)
    f = c(lambda x: part(x))
    found = thrice(f, data())
    part.keywords["k"] = 7.0
    return found + thrice(f, data())


@scenario("a variable of a module")
def s_module_variable(c):
    space = types.ModuleType("somewhere")
    space.rate = 2.0
    f = c(lambda x: x * space.rate)
    found = thrice(f, data())
    space.rate = 4.0
    return found + thrice(f, data())


@scenario("a function of the library is replaced")
def s_library_function(c):
    f = c(lambda x: F.relu(x))
    found = thrice(f, data())
    before = F.relu
    F.relu = lambda x: x * 100
    try:
        found += thrice(f, data())
    finally:
        F.relu = before
    return found + thrice(f, data())


@scenario("an environment variable")
def s_environ(c):
    def f(x):
        return x * 2 if os.environ.get("TAEDA_SCENARIO") == "1" else x

    g = c(f)
    found = thrice(g, data())
    os.environ["TAEDA_SCENARIO"] = "1"
    found += thrice(g, data())
    del os.environ["TAEDA_SCENARIO"]
    return found + thrice(g, data())


# ---- attributes ----


class Config:
    rate = 2.0
    depth: int

    def __init__(self):
        self.bias = 1.0

    @property
    def double(self):
        return self.bias * 2

    def times(self, x):
        return x * self.bias


@scenario("an attribute of an object")
def s_attribute(c):
    cfg = Config()
    f = c(lambda x: x + cfg.bias)
    found = thrice(f, data())
    cfg.bias = 4.0
    return found + thrice(f, data())


@scenario("an attribute of a class")
def s_class_attribute(c):
    class Own(Config):
        pass

    cfg = Own()
    f = c(lambda x: x * cfg.rate)
    found = thrice(f, data())
    Own.rate = 4.0
    return found + thrice(f, data())


@scenario("an instance shadows its class")
def s_shadow(c):
    cfg = Config()
    f = c(lambda x: x * cfg.rate)
    found = thrice(f, data())
    cfg.rate = 9.0
    return found + thrice(f, data())


@scenario("what a property reads")
def s_property(c):
    cfg = Config()
    f = c(lambda x: x * cfg.double)
    found = thrice(f, data())
    cfg.bias = 5.0
    return found + thrice(f, data())


@scenario("what a method reads")
def s_method(c):
    cfg = Config()
    f = c(lambda x: cfg.times(x))
    found = thrice(f, data())
    cfg.bias = 5.0
    return found + thrice(f, data())


@scenario("a method is replaced on the class")
def s_method_replaced(c):
    class Own(Config):
        pass

    cfg = Own()
    f = c(lambda x: cfg.times(x))
    found = thrice(f, data())
    Own.times = lambda self, x: x - 100
    return found + thrice(f, data())


@scenario("getattr with a name")
def s_getattr(c):
    cfg = Config()
    f = c(lambda x: x * cfg.bias + getattr(cfg, "missing", 3.0))
    found = thrice(f, data())
    cfg.missing = 30.0
    return found + thrice(f, data())


@scenario("hasattr")
def s_hasattr(c):
    cfg = Config()
    f = c(lambda x: x * 2 if hasattr(cfg, "fast") else x)
    found = thrice(f, data())
    cfg.fast = True
    return found + thrice(f, data())


@scenario("an attribute of an argument")
def s_argument_attribute(c):
    cfg = Config()
    f = c(lambda x, cfg: x * cfg.bias)
    found = thrice(f, data(), cfg)
    cfg.bias = 5.0
    found += thrice(f, data(), cfg)
    return found + thrice(f, data(), Config())


@scenario("a frozen dataclass is exchanged")
def s_dataclass(c):
    @dataclass
    class Options:
        rate: float
        name: str = "a"

    options = Options(2.0)
    f = c(lambda x: x * options.rate if options.name == "a" else x)
    found = thrice(f, data())
    options.name = "b"
    return found + thrice(f, data())


@scenario("an object with __call__")
def s_callable_object(c):
    class Times:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return x * self.k

    times = Times(2.0)
    f = c(lambda x: times(x))
    found = thrice(f, data())
    times.k = 6.0
    return found + thrice(f, data())


@scenario("an object made inside")
def s_object_inside(c):
    def f(x):
        cfg = Config()
        cfg.bias = 3.0
        return cfg.times(x)

    return thrice(c(f), data()) + thrice(c(f), data(seed=2))


# ---- modules ----


class Net(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        taeda.manual_seed(0)
        self.first, self.second = nn.Linear(4, 8), nn.Linear(8, 2)
        self.dropout = nn.Dropout(dropout)
        self.power = 1

    def forward(self, x):
        x = self.first(x).relu() ** self.power
        return self.second(self.dropout(x))


def inference(c, net):
    f = c(net)

    def run(x):
        with taeda.no_grad():
            return f(x)

    return run


@scenario("train() and eval()")
def s_train_eval(c):
    net = Net(0.5)
    f = inference(c, net)
    taeda.manual_seed(1)
    found = thrice(f, data())
    net.eval()
    found += thrice(f, data())
    net.train()
    taeda.manual_seed(1)
    return found + thrice(f, data())


@scenario("a number of a module")
def s_module_number(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    net.power = 2
    return found + thrice(f, data())


@scenario("a child is exchanged")
def s_child(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    taeda.manual_seed(5)
    net.second = nn.Linear(8, 3)
    return found + thrice(f, data())


@scenario("a parameter is exchanged")
def s_parameter(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    net.first.weight = nn.Parameter(data(8, 4, seed=9))
    return found + thrice(f, data())


@scenario("a parameter is written in place")
def s_parameter_written(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    with taeda.no_grad():
        net.first.weight.zero_()
    return found + thrice(f, data())


@scenario("load_state_dict")
def s_load_state(c):
    net, other = Net(), Net()
    with taeda.no_grad():
        other.first.weight.mul_(3)
    f = inference(c, net)
    found = thrice(f, data())
    net.load_state_dict(other.state_dict())
    found += thrice(f, data())
    net.load_state_dict(Net().state_dict(), assign=True)
    return found + thrice(f, data())


@scenario("the dtype of a module")
def s_double(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    net.double()
    return found + thrice(f, data().double())


@scenario("a forward hook is added later, and removed")
def s_forward_hook(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    handle = net.first.register_forward_hook(lambda m, a, out: out * 2)
    found += thrice(f, data())
    handle.remove()
    return found + thrice(f, data())


@scenario("a global forward hook")
def s_global_hook(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    handle = nn.modules.module.register_module_forward_hook(lambda m, a, out: out + 1)
    try:
        found += thrice(f, data())
    finally:
        handle.remove()
    return found + thrice(f, data())


@scenario("forward of a class is replaced")
def s_forward_replaced(c):
    class Own(Net):
        pass

    net = Own()
    f = inference(c, net)
    found = thrice(f, data())
    Own.forward = lambda self, x: self.first(x)
    return found + thrice(f, data())


@scenario("forward of one module is replaced")
def s_forward_of_instance(c):
    net = Net()
    f = inference(c, net)
    found = thrice(f, data())
    net.forward = lambda x: x * 5
    return found + thrice(f, data())


@scenario("a Sequential grows")
def s_sequential(c):
    taeda.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    f = inference(c, net)
    found = thrice(f, data())
    net.append(nn.Tanh())
    return found + thrice(f, data())


@scenario("a ModuleList that is walked through")
def s_module_list(c):
    class Stack(nn.Module):
        def __init__(self):
            super().__init__()
            taeda.manual_seed(0)
            self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(2))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x).tanh()
            return x

    net = Stack()
    f = inference(c, net)
    found = thrice(f, data())
    net.layers.append(nn.Linear(4, 4))
    return found + thrice(f, data())


@scenario("statistics of batch norm in training")
def s_batch_norm(c):
    net = nn.Sequential(nn.BatchNorm1d(4), nn.ReLU())
    f = inference(c, net)
    found = thrice(f, data(8, 4))
    found.append(kept(list(net.state_dict().values())))
    net.eval()
    return found + thrice(f, data(8, 4))


@scenario("an attribute of a hidden dict of a module")
def s_module_dict_attribute(c):
    class Own(Net):
        def __init__(self):
            super().__init__()
            self.options = {"k": 2.0}

        def forward(self, x):
            return self.first(x) * self.options["k"]

    net = Own()
    f = inference(c, net)
    found = thrice(f, data())
    net.options["k"] = 5.0
    return found + thrice(f, data())


# ---- arguments ----


@scenario("another shape")
def s_shape(c):
    f = c(lambda x: x.sum() / x.shape[0])
    return thrice(f, data(3, 4)) + thrice(f, data(5, 4)) + thrice(f, data(3, 4))


@scenario("another dtype")
def s_dtype(c):
    f = c(lambda x: x * 2 + 1)
    return thrice(f, data()) + thrice(f, data().double()) + thrice(f, taeda.arange(3))


@scenario("other strides")
def s_strides(c):
    f = c(lambda x: x.reshape(-1) * 2)
    return thrice(f, data(4, 4)) + thrice(f, data(4, 4).t()) + thrice(f, data(4, 8)[:, ::2])


@scenario("an expanded argument")
def s_expanded(c):
    f = c(lambda x, y: (x * 2 + y).sum(0))
    found = thrice(f, data(1, 4).expand(3, 4), data(3, 4))
    return found + thrice(f, data(3, 1).expand(3, 4), data(3, 4))


@scenario("a number as argument")
def s_number_argument(c):
    f = c(lambda x, k: x * k)
    return (
        thrice(f, data(), 2)
        + thrice(f, data(), 2.0)
        + thrice(f, data(), 3)
        + thrice(f, data(), True)
    )


@scenario("minus zero as argument")
def s_minus_zero(c):
    f = c(lambda x, k: (x * 0 + k).sign() / k)
    return thrice(f, data(), 0.0) + thrice(f, data(), -0.0)


@scenario("a string as argument")
def s_string_argument(c):
    f = c(lambda x, how: x.sin() if how == "sin" else x.cos())
    return thrice(f, data(), "sin") + thrice(f, data(), "cos")


@scenario("None or a tensor")
def s_none_argument(c):
    f = c(lambda x, bias=None: x if bias is None else x + bias)
    return thrice(f, data()) + thrice(f, data(), data(4)) + thrice(f, data(), bias=data(4))


@scenario("lists of tensors")
def s_list_argument(c):
    f = c(lambda xs: taeda.cat(xs) * len(xs))
    return thrice(f, [data()]) + thrice(f, [data(), data(seed=1)])


@scenario("a dict of tensors and numbers")
def s_dict_argument(c):
    f = c(lambda batch: batch["x"] * batch["k"])
    return thrice(f, {"x": data(), "k": 2.0}) + thrice(f, {"x": data(), "k": 3.0})


@scenario("the same tensor twice")
def s_same_tensor(c):
    def f(x, y):
        x.add_(1)
        return x * y

    g = c(f)
    found = [kept(g(data(), data(seed=1))) for _ in range(3)]
    for _ in range(3):
        x = data()
        found.append(kept(g(x, x)))
    return found


@scenario("arguments that overlap")
def s_overlap(c):
    def f(x, y):
        x.add_(1)
        return x * y

    g = c(f)
    found = [kept(g(data(4), data(4, seed=1))) for _ in range(3)]
    for _ in range(3):
        x = data(6)
        found.append(kept(g(x[:4], x[2:])))
    return found


@scenario("requires_grad of an argument")
def s_requires_grad(c):
    f = c(lambda x: x * 2)
    found = thrice(f, data())
    x = data().requires_grad_()
    y = f(x)
    y.sum().backward()
    return [*found, kept(y), y.requires_grad, kept(x.grad)]


@scenario("an argument is written in place")
def s_argument_written(c):
    def f(x):
        x.mul_(2)
        return x + 1

    g = c(f)
    found = []
    for _ in range(4):
        x = data()
        found += [kept(g(x)), kept(x)]
    return found


@scenario("an argument is written through a view")
def s_view_written(c):
    def f(x):
        row = x[0]
        row.zero_()
        x[1:, 2] = 7
        return x.sum(0)

    g = c(f)
    found = []
    for _ in range(4):
        x = data()
        found += [kept(g(x)), kept(x)]
    return found


@scenario("an argument is returned")
def s_returned(c):
    f = c(lambda x: (x, x + 1))
    x = data()
    return [f(x)[0] is x for _ in range(4)]


# ---- results ----
Pair = namedtuple("Pair", "total mean")


@scenario("structures of results")
def s_structures(c):
    f = c(lambda x: {"pair": Pair(x.sum(), x.mean()), "list": [x, 3, None], "text": "a"})
    found = []
    for _ in range(4):
        made = f(data())
        found += [type(made["pair"]).__name__, kept(made)]
    return found


@scenario("a result twice")
def s_result_twice(c):
    def f(x):
        y = x + 1
        return y, y

    g = c(f)
    return [operator_is(g(data())) for _ in range(4)]


def operator_is(pair):
    return pair[0] is pair[1]


@scenario("results are not written by later calls")
def s_fresh_results(c):
    f = c(lambda x: x + 1)
    found = [f(data(seed=n)) for n in range(5)]
    return [kept(v) for v in found]


@scenario("a constant that is written")
def s_constant(c):
    def f(x):
        total = taeda.tensor([1.0, 2.0, 3.0, 4.0])
        total.add_(x.sum())
        return total

    g = c(f)
    return [kept(g(data(seed=n))) for n in range(5)]


# ---- randomness ----


@scenario("draws of the default generator")
def s_draws(c):
    f = c(lambda x: F.dropout(x, 0.5) + taeda.randn(4) + taeda.rand_like(x))
    taeda.manual_seed(3)
    found = [kept(f(data())) for _ in range(5)]
    return [*found, taeda.randn(2)]


@scenario("a generator of its own")
def s_generator(c):
    own = taeda.Generator().manual_seed(4)
    f = c(lambda x: x + taeda.randn(4, generator=own))
    return [kept(f(data())) for _ in range(5)]


@scenario("random of Python", eager=True)
def s_python_random(c):
    random.seed(0)
    f = c(lambda x: x * random.random())
    return [kept(f(data())) for _ in range(5)]


# ---- what must stay eager ----


@scenario("a branch on a value", eager=True)
def s_value_branch(c):
    def f(x):
        if x.sum() > 0:
            return x * 2
        return x - 1

    g = c(f)
    return [kept(g(data(seed=n))) for n in range(6)]


@scenario("item()", eager=True)
def s_item(c):
    f = c(lambda x: x * x.sum().item())
    return [kept(f(data(seed=n))) for n in range(5)]


@scenario("a shape that depends on values", eager=True)
def s_nonzero(c):
    f = c(lambda x: x[x > 0].sum())
    return [kept(f(data(seed=n))) for n in range(5)]


@scenario("a counter in a global", eager=True)
def s_counter(c):
    counts = {"n": 0}

    def f(x):
        counts["n"] += 1
        return x * counts["n"]

    g = c(f)
    return [kept(g(data())) for _ in range(5)]


@scenario("a list that collects", eager=True)
def s_collect(c):
    seen: list[Any] = []

    def f(x):
        seen.append(x.shape)
        return x * 2

    g = c(f)
    found = [kept(g(data())) for _ in range(5)]
    return [*found, len(seen)]


@scenario("an attribute that counts", eager=True)
def s_count_attribute(c):
    cfg = Config()

    def f(x):
        cfg.bias += 1
        return x * cfg.bias

    g = c(f)
    return [kept(g(data())) for _ in range(5)]


@scenario("an attribute of a module that counts", eager=True)
def s_count_module(c):
    class Count(nn.Module):
        calls = 0

        def forward(self, x):
            self.calls = self.calls + 1
            return x * self.calls

    f = inference(c, Count())
    return [kept(f(data())) for _ in range(5)]


@scenario("print", eager=True)
def s_print(c):
    lines: list[str] = []

    def f(x):
        print(x.shape, file=types.SimpleNamespace(write=lines.append))
        return x * 2

    g = c(f)
    found = [kept(g(data())) for _ in range(4)]
    return [*found, len(lines)]


@scenario("contents of an array of numpy", eager=True)
def s_numpy(c):
    import numpy as np

    array = np.ones(4, dtype=np.float32)
    f = c(lambda x: x * taeda.from_numpy(array))
    found = thrice(f, data())
    array[0] = 5
    return found + thrice(f, data())


@scenario("an iterator that runs dry", eager=True)
def s_iterator(c):
    numbers = iter([1.0, 2.0, 3.0, 4.0, 5.0])
    f = c(lambda x: x * next(numbers))
    return [kept(f(data())) for _ in range(5)]


@scenario("a generator of numbers made inside")
def s_generator_inside(c):
    def count(n):
        for k in range(n):
            yield k + 1

    def f(x):
        for k in count(3):
            x = x * k
        return x

    return thrice(c(f), data())


# ---- control ----


@scenario("an exception is caught")
def s_caught(c):
    def f(x):
        try:
            return x @ x
        except RuntimeError:
            return x * 2

    return thrice(c(f), data(3, 4)) + thrice(c(f), data(4, 4))


@scenario("an exception comes out")
def s_raised(c):
    def f(x):
        if x.shape[0] > 3:
            raise ValueError("too long")
        return x * 2

    g, found = c(f), []
    for n in (3, 3, 3, 4, 4, 3):
        try:
            found.append(kept(g(data(n))))
        except ValueError as error:
            found.append(str(error))
    return found


@scenario("grad mode around the call")
def s_grad_mode(c):
    w = data(4, seed=3).requires_grad_()
    f = c(lambda x: x * w)
    found = []
    for _ in range(3):
        with taeda.no_grad():
            y = f(data())
        found += [kept(y), y.requires_grad]
    y = f(data())
    return [*found, kept(y), y.requires_grad]


@scenario("no_grad inside")
def s_no_grad_inside(c):
    w = data(4, seed=3).requires_grad_()

    def f(x):
        with taeda.no_grad():
            y = x * w
        return y * 2

    return thrice(c(f), data())


@scenario("the default dtype")
def s_default_dtype(c):
    f = c(lambda x: x + taeda.ones(4))
    found = thrice(f, data())
    taeda.set_default_dtype(taeda.float64)
    try:
        found += thrice(f, data())
    finally:
        taeda.set_default_dtype(taeda.float32)
    return found


@scenario("autocast around the call")
def s_autocast(c):
    f = c(lambda x: x @ x.t())
    found = thrice(f, data())
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        found += thrice(f, data())
    return found + thrice(f, data())


@scenario("a compiled function in another")
def s_nested(c):
    inner = c(lambda x: x * SCALE)
    f = c(lambda x: inner(x) + 1)
    return thrice(f, data()) + thrice(inner, data())


@scenario("comprehensions, unpacking, formats")
def s_syntax(c):
    names = ["a", "b"]

    def f(x, *rest, **named):
        parts = [x * k for k in range(3) if k]
        first, *others = parts
        text = f"{names[0]}{len(others):>2}"
        total = first + sum(others) + len(text)
        total += sum(rest, 0) + sum(named.values())
        return {k: total * n for n, k in enumerate(names)}

    g = c(f)
    found = thrice(g, data(), 1.0, 2.0, k=3)
    names.append("c")
    return found + thrice(g, data(), 1.0, 2.0, k=3)


@scenario("super() and class methods")
def s_super(c):
    class Base:
        k = 2.0

        def go(self, x):
            return x * self.k

        @classmethod
        def rate(cls):
            return cls.k

        @staticmethod
        def plus(x):
            return x + 1

    class Child(Base):
        def go(self, x):
            return super().go(x) + self.rate() + self.plus(x)

    child = Child()
    f = c(lambda x: child.go(x))
    found = thrice(f, data())
    Base.k = 3.0
    return found + thrice(f, data())


@scenario("recursion")
def s_recursion(c):
    def power(x, n):
        return x if n == 0 else power(x * x, n - 1)

    f = c(lambda x: power(x, 3))
    return thrice(f, data())


@scenario("map, scan and while_loop over functions that read a global")
def s_operators(c):
    from taeda import _higher_order_ops as ops

    global SCALE

    def f(x):
        rows = ops.map(lambda row: row * SCALE, x)
        total, steps = ops.scan(lambda a, b: (a + b * SCALE, a * b), x[0] * 0, rows)
        return ops.while_loop(lambda n, y: n < 3, lambda n, y: (n + 1, y * total), (0, steps))[1]

    f = c(f)
    found = thrice(f, data())
    SCALE = 3.0
    found += thrice(f, data())
    SCALE = 2.0
    return found


@scenario("a number that the score function of flex attention reads")
def s_flex(c):
    from taeda.nn.attention.flex_attention import create_block_mask, flex_attention

    global SCALE
    mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 6, 6, BLOCK_SIZE=2)
    f = c(lambda x: flex_attention(x, x, x, lambda s, b, h, q, k: s * SCALE + (q - k), mask))
    found = thrice(f, data(1, 2, 6, 4))
    SCALE = 3.0
    found += thrice(f, data(1, 2, 6, 4))
    SCALE = 2.0
    return found


@scenario("modules asked for their class, and walked with zip")
def s_asked(c):
    layers = nn.ModuleList([nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)])

    def f(x):
        for layer, factor in zip(layers, (1.0, 2.0, 3.0), strict=True):
            x = layer(x) * factor if isinstance(layer, nn.Linear) else layer(x)
        return x

    f = c(f)
    found = thrice(f, data())
    layers[1] = nn.Tanh()
    return found + thrice(f, data())


@scenario("an OrderedDict is reordered")
def s_ordered(c):
    table = OrderedDict(a=2.0, b=3.0)

    def f(x):
        for k, v in table.items():
            x = x * v if k == "a" else x + v
        return x

    g = c(f)
    found = thrice(g, data())
    table.move_to_end("a")
    return found + thrice(g, data())


@scenario("math of numbers")
def s_math(c):
    f = c(lambda x: x * math.sqrt(SCALE) + math.pi)
    return thrice(f, data())


# ---- training ----


def training(c, make_optimizer, change=None, steps=8, zero=True):
    net = Net(0.1)
    optimizer = make_optimizer(net.parameters())

    def step(x, y):
        if zero:
            optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    run = c(step)
    taeda.manual_seed(2)
    found = []
    for n in range(steps):
        if n == steps // 2 and change is not None:
            change(net, optimizer)
        found.append(run(data(6, 4, seed=n), taeda.arange(6) % 2).item())
    return [*found, kept(list(net.state_dict().values()))]


@scenario("a training step with Adam")
def s_adam(c):
    return training(c, lambda p: taeda.optim.Adam(p, lr=0.01))


@scenario("a training step with SGD and momentum")
def s_sgd(c):
    return training(c, lambda p: taeda.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True))


@scenario("batches are slices of one tensor")
def s_slices(c):
    taeda.manual_seed(0)
    rows, net = data(40, 4), nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2))
    optimizer = taeda.optim.SGD(net.parameters(), lr=0.1)

    def step(x):
        optimizer.zero_grad()
        loss = net(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    run = c(step)
    found = [run(rows[n : n + 8]).item() for n in (0, 0, 0, 8, 16, 24, 3)]
    return [*found, kept(list(net.state_dict().values()))]


@scenario("the learning rate")
def s_learning_rate(c):
    def change(net, optimizer):
        optimizer.param_groups[0]["lr"] = 0.001

    return training(c, lambda p: taeda.optim.AdamW(p, lr=0.01), change)


@scenario("a parameter is frozen")
def s_frozen(c):
    def change(net, optimizer):
        net.first.weight.requires_grad_(False)

    return training(c, lambda p: taeda.optim.SGD(p, lr=0.1), change)


@scenario("gradients are cleared from outside")
def s_cleared(c):
    def change(net, optimizer):
        for p in net.parameters():
            p.grad = None

    return training(c, lambda p: taeda.optim.SGD(p, lr=0.1), change, zero=False)


@scenario("the state of an optimizer is loaded")
def s_optimizer_state(c):
    def change(net, optimizer):
        optimizer.load_state_dict(optimizer.state_dict())

    return training(c, lambda p: taeda.optim.Adam(p, lr=0.01), change)


@scenario("a group of parameters is added")
def s_group(c):
    def change(net, optimizer):
        optimizer.add_param_group({"params": list(net.second.parameters()), "lr": 0.5})

    def make(parameters):
        return taeda.optim.SGD(list(parameters)[:2], lr=0.1)

    return training(c, make, change)


@scenario("a hook on a parameter")
def s_parameter_hook(c):
    def change(net, optimizer):
        net.first.weight.register_hook(lambda grad: grad * 0)

    return training(c, lambda p: taeda.optim.SGD(p, lr=0.1), change)


@scenario("eval() in the middle of training")
def s_eval_training(c):
    return training(c, lambda p: taeda.optim.SGD(p, lr=0.1), lambda net, _: net.eval())
