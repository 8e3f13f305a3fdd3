"""What a function reads changes: globals, containers, closures, other functions, defaults."""

from __future__ import annotations

import functools
import os
import types

import taeda.nn.functional as F
from taeda import Tensor

from ._scenario import data, scenario, thrice

SCALE = 2.0
FLAG = True
TABLE = {"a": 1.0, "inner": {"k": 2.0}}


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
