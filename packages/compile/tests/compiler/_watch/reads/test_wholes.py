from __future__ import annotations

import taeda
from taeda import nn


def test_a_loop_guards_all_of_a_list(watch):
    scales = [1.0, 2.0]

    def program(x):
        for scale in scales:
            x = x * scale
        return x

    observer, _ = watch(program, taeda.ones(1))
    holds, _ = observer.guards.compiled()
    assert holds()
    scales.append(3.0)
    assert not holds()


def test_a_comparison_guards_all_of_a_dict(watch):
    table = {"a": [1]}
    observer, _ = watch(lambda x: x if table == {"a": [1]} else -x, taeda.ones(1))
    holds, _ = observer.guards.compiled()
    assert holds()
    table["a"].append(2)
    assert not holds()


def test_a_loop_over_something_unknown(watch):
    class Letters:
        def __iter__(self):
            return iter("ab")

    def program(x, letters):
        for _ in letters:
            x = x + 1
        return x

    observer, _ = watch(program, taeda.ones(1), Letters())
    assert observer.reason == "it walks through a Letters"


def test_a_loop_over_modules(watch):
    layers = nn.ModuleList([nn.ReLU(), nn.Tanh()])

    def program(x):
        for layer in layers:
            x = layer(x)
        return x

    observer, _ = watch(program, taeda.ones(1))
    holds, _ = observer.guards.compiled()
    assert holds()
    layers.append(nn.ReLU())
    assert not holds()
