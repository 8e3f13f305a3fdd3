"""Kernels of users that return what their schema does not promise: every form of result, every kind
of kernel, every wrong value. A call gives what fits, and refuses the rest by name.
"""

from __future__ import annotations

import itertools

import pytest
from strangers import KINDS, RESULTS, VIEWS, WRITTEN, Turning, fits, inputs, outcome, values

import taeda
from taeda.library import Library


@pytest.fixture
def lib():
    made = Library("strangers", "DEF")
    yield made
    made._destroy()


def same(got, name, declared, kind):
    pytest.fail(f"{declared} by {kind}: {name} was {'taken' if got else 'refused'}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("declared", RESULTS)
def test_one_result(lib, declared, kind):
    lib.define(f"f(Tensor x) -> {declared}")
    x, answer = inputs(kind), []
    lib.impl("f", lambda x: answer[0], KINDS[kind])
    for name, value in values(x).items():
        if kind == "composite" and isinstance(value, Turning):
            continue  # handed on as it is: nothing in it is read again
        answer[:] = [value]
        got = outcome(taeda.ops.strangers.f, x)
        if got != fits(declared, value):
            same(got, name, declared, kind)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "declared",
    [*itertools.product(("Tensor", "Tensor?", "Tensor[]", "int"), repeat=2)],
    ids="-".join,
)
def test_several_results(lib, declared, kind):
    lib.define(f"f(Tensor x) -> ({', '.join(declared)})")
    x, answer = inputs(kind), []
    lib.impl("f", lambda x: answer[0], KINDS[kind])
    some = values(x)
    wrong = {name: some[name] for name in ("None", "tensor", "itself", "int", "dict", "empty list")}
    for name, value in wrong.items():
        answer[:] = [value]
        if outcome(taeda.ops.strangers.f, x):
            same(True, name, declared, kind)
    names = ("None", "tensor", "list", "tensor and None", "int", "str")
    for pair in itertools.product(names, repeat=2):
        value = tuple(some[name] for name in pair)
        for form in (value, list(value)):
            answer[:] = [form]
            got = outcome(taeda.ops.strangers.f, x)
            if got != all(map(fits, declared, value)):
                same(got, pair, declared, kind)
        for count in (value[:1], (*value, value[0])):
            answer[:] = [count]
            if outcome(taeda.ops.strangers.f, x):
                same(True, f"{len(count)} of {pair}", declared, kind)


@pytest.mark.parametrize("kind", KINDS)
def test_no_results(lib, kind):
    lib.define("f(Tensor x) -> ()")
    x, answer = inputs(kind), []
    lib.impl("f", lambda x: answer[0], KINDS[kind])
    for name, value in values(x).items():
        answer[:] = [value]
        got = outcome(taeda.ops.strangers.f, x)
        if got != (value is None):
            same(got, name, "()", kind)


@pytest.mark.parametrize("grad", [False, True], ids=["", "grad"])
@pytest.mark.parametrize("kind", ["cpu", "meta", "any"])
@pytest.mark.parametrize("declared", VIEWS)
def test_views(lib, declared, kind, grad):
    lib.define(f"f(Tensor(a) x) -> {declared}")
    answer = []
    lib.impl("f", lambda x: answer[0](x), KINDS[kind])
    leaf = inputs(kind).requires_grad_(grad)
    right = {
        "view": lambda x: x[1:],
        "itself": lambda x: x,
        "views": lambda x: [x[:1], x[1:]],
        "itself twice": lambda x: (x, x),
    }
    wrong = {name: lambda x, name=name: values(x)[name] for name in values(leaf.detach())}
    for name, make in {**wrong, **right}.items():
        answer[:] = [make]
        got = outcome(taeda.ops.strangers.f, leaf * 1 if grad else leaf)
        if got != fits(declared, make(leaf.detach())):
            same(got, name, declared, kind)
    assert leaf.tolist() == [1.0] * 3 if kind != "meta" else leaf.is_meta


@pytest.mark.parametrize("grad", [False, True], ids=["", "grad"])
@pytest.mark.parametrize("kind", ["cpu", "any"])
@pytest.mark.parametrize("declared", WRITTEN)
def test_written_arguments(lib, declared, kind, grad):
    many, optional = declared.endswith("[]"), declared.endswith("?")
    result = declared.removesuffix("?")
    lib.define(f"f({declared} x{'=None' if optional else ''}) -> {result}")
    answer = []
    lib.impl("f", lambda x: answer[0](x), KINDS[kind])
    own = [taeda.ones(3, requires_grad=grad) * 1 for _ in range(2)]
    given = own if many else own[0]
    answer[:] = [lambda x: x]
    made = taeda.ops.strangers.f(given)
    assert made is given if not many else [m.tolist() for m in made] == [[1.0] * 3] * 2
    wrong = {
        name: lambda x, name=name: values(taeda.ones(3))[name] for name in values(own[0].detach())
    }
    for name, make in wrong.items():
        answer[:] = [make]
        own = [taeda.ones(3, requires_grad=grad) * 1 for _ in range(2)]
        got = outcome(taeda.ops.strangers.f, own if many else own[0])
        if got != (many and fits("Tensor[]", make(None))):
            same(got, name, declared, kind)
    if optional:
        for arguments in ((), (None,)):
            answer[:] = [lambda x: x]
            assert taeda.ops.strangers.f(*arguments) is None
            answer[:] = [lambda x: 5]
            assert not outcome(taeda.ops.strangers.f, *arguments)


def test_a_list_that_others_change_is_not_read_again(lib):
    """What was looked at is what is passed on."""
    lib.define("f(Tensor x) -> Tensor[]")
    kept = []

    def kernel(x):
        kept[:] = [x + 1, x + 2]
        return kept

    lib.impl("f", kernel, "CPU")
    made = taeda.ops.strangers.f(taeda.ones(2))
    kept[:] = [None] * 5
    assert [m.tolist() for m in made] == [[2.0, 2.0], [3.0, 3.0]]


@pytest.mark.parametrize("name", ["exp", "sum", "max.dim", "unbind.int", "view", "split.Tensor"])
def test_kernels_that_override_built_in_ones(name):
    lib = Library("aten", "IMPL")
    row = taeda.ops.aten
    for part in name.split("."):
        row = getattr(row, part)
    more = {"max.dim": (0,), "view": ([3],), "split.Tensor": (2,)}.get(name, ())
    several, many = name == "max.dim", name in ("unbind.int", "split.Tensor")
    answer = []
    lib.impl(name, lambda *args, **kwargs: answer[0], "CPU")
    try:
        for value in values(taeda.ones(3)).values():
            if several and isinstance(value, (list, tuple)) and len(value) == 2:
                continue  # of several results one may be missing
            answer[:] = [value]
            for x in (taeda.ones(3), taeda.ones(3, requires_grad=True)):
                right = fits("Tensor[]" if many else "Tensor", value) and not several
                if right:
                    row(x, *more)
                    continue
                with pytest.raises(RuntimeError, match=name.partition(".")[0]):
                    row(x, *more)
    finally:
        lib._destroy()


# ---- what a call that writes leaves behind ----


@pytest.mark.parametrize("result", ["()", "int", "Tensor[]", "Tensor"])
@pytest.mark.parametrize("many", [False, True], ids=["tensor", "list"])
def test_writes_are_counted_and_have_no_derivative(lib, many, result):
    lib.define(f"f(Tensor(a!){'[]' if many else ''} x) -> {result}")

    def kernel(x):
        for t in x if many else [x]:
            t.mul_(3)
        return {"()": None, "int": 3, "Tensor[]": [taeda.ones(1)], "Tensor": taeda.ones(1)}[result]

    lib.impl("f", kernel, "CPU")
    weight = taeda.ones(3, requires_grad=True)
    x = weight * 1
    before = x._version
    taeda.ops.strangers.f([x] if many else x)
    assert x._version > before
    with pytest.raises(RuntimeError, match="backward through strangers::f"):
        (x**2).sum().backward()
    saved = weight * 1
    loss = (saved**2).sum()
    taeda.ops.strangers.f([saved] if many else saved)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        taeda.ops.strangers.f([weight] if many else weight)


@pytest.mark.parametrize("mask", [[True], [True, True], [True] * 4, []])
def test_lists_of_a_fixed_length_have_it(mask):
    g, x, w = taeda.ones(1, 1, 2, 2), taeda.ones(1, 1, 3, 3), taeda.ones(1, 1, 2, 2)
    backward = taeda.ops.aten.convolution_backward
    given = (g, x, w, [1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    assert all(t is not None for t in backward(*given, [True] * 3))
    with pytest.raises(RuntimeError, match=r"'output_mask' is a list of . bools, and a list of 3"):
        backward(*given, mask)
