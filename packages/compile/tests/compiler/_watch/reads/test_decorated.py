"""Functions below decorators of the library are part of a graph, as if there were none."""

from __future__ import annotations

import pytest

import taeda
from taeda.utils._contextlib import context_decorator

amp = pytest.importorskip("taeda.amp")  # which compile does not need

DECORATORS = {
    "no_grad()": taeda.no_grad(),
    "no_grad": taeda.no_grad,
    "enable_grad": taeda.enable_grad(),
    "inference_mode": taeda.inference_mode(),
    "set_grad_enabled": lambda f: _off()(f),
    "autocast": amp.autocast("cpu", taeda.bfloat16),
    "custom_fwd": amp.custom_fwd(device_type="cpu"),
    "context_decorator": lambda f: context_decorator(lambda: taeda.no_grad(), f),
}


def _off():
    made = taeda.set_grad_enabled(False)
    taeda.set_grad_enabled(True)
    return made


def _decorated(name, function):
    return DECORATORS[name](function)


@pytest.mark.parametrize("name", DECORATORS)
def test_a_decorated_function_is_part_of_a_graph(name):
    weight = taeda.rand(3, 3)
    inner = _decorated(name, lambda x: (x @ weight).float() * 3)

    def f(x):
        return inner(x) + 1

    fast = taeda.compile(f, fullgraph=True)
    for _ in range(12):
        x = taeda.rand(2, 3)
        assert taeda.equal(fast(x), f(x))
    assert taeda.compiler.explain(fast)(x).graph_count == 1


@pytest.mark.parametrize("name", ["no_grad()", "enable_grad"])
def test_it_is_compiled_itself(name):
    weight = taeda.ones(3, requires_grad=True)
    inner = _decorated(name, lambda x: x * weight)
    fast = taeda.compile(inner, fullgraph=True)
    for around in (True, False) * 7:
        with taeda.set_grad_enabled(around):
            x = taeda.rand(3)
            found, expected = fast(x), inner(x)
        assert taeda.equal(found, expected)
        assert found.requires_grad == expected.requires_grad == (name == "enable_grad")


def _cell(function, kind):
    (cell,) = (c for c in function.__closure__ if isinstance(c.cell_contents, kind))
    return cell


def test_what_a_decorator_keeps_is_guarded():
    weight = taeda.ones(3, requires_grad=True)
    below = lambda x: x * weight  # noqa: E731 - its type is wanted
    inner = taeda.no_grad()(below)
    set_to = taeda.set_grad_enabled(True)(below)

    def f(x):
        return inner(x) + 1, set_to(x) + 1

    fast = taeda.compile(f)

    def compare():
        for _ in range(4):
            x = taeda.rand(3)
            for one, other in zip(fast(x), f(x), strict=True):
                assert taeda.equal(one, other)
                assert one.requires_grad == other.requires_grad

    compare()
    _cell(inner, type(below)).cell_contents = lambda x: x * weight * 2
    compare()
    _cell(inner, taeda.no_grad).cell_contents = taeda.enable_grad()
    compare()
    _cell(set_to, taeda.set_grad_enabled).cell_contents.mode = False
    compare()


def test_what_it_reads_and_does_is_seen():
    table, log = {"by": 2.0}, []

    @taeda.no_grad()
    def reads(x):
        return x * table["by"]

    @taeda.no_grad()
    def writes(x):
        log.append(1)
        return x + 1

    fast, counted = taeda.compile(lambda x: reads(x) + 1), taeda.compile(lambda x: writes(x) * 2)
    for number in range(1, 16):
        table["by"] = 2.0 + number // 5
        assert fast(taeda.ones(2)).tolist() == [table["by"] + 1] * 2
        counted(taeda.ones(2))
        assert len(log) == number
