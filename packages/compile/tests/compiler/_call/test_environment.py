"""A call that leaves a switch of the library other than it was stays as it is."""

from __future__ import annotations

import pytest

import taeda

#: what switches, what switches back, how it is seen
SWITCHES = {
    "set_grad_enabled": (
        lambda: taeda.set_grad_enabled(False),
        lambda: taeda.set_grad_enabled(True),
        taeda.is_grad_enabled,
    ),
    "no_grad": (
        lambda: taeda.no_grad().__enter__(),
        lambda: taeda.set_grad_enabled(True),
        taeda.is_grad_enabled,
    ),
    "default dtype": (
        lambda: taeda.set_default_dtype(taeda.float64),
        lambda: taeda.set_default_dtype(taeda.float32),
        taeda.get_default_dtype,
    ),
    "default device": (
        lambda: taeda.set_default_device("meta"),
        lambda: taeda.set_default_device(None),
        taeda.get_default_device,
    ),
    "deterministic": (
        lambda: taeda.use_deterministic_algorithms(True),
        lambda: taeda.use_deterministic_algorithms(False),
        taeda.are_deterministic_algorithms_enabled,
    ),
    "anomaly": (
        lambda: taeda.autograd.set_detect_anomaly(True),
        lambda: taeda.autograd.set_detect_anomaly(False),
        taeda.is_anomaly_enabled,
    ),
    "autocast": (
        lambda: taeda.set_autocast_enabled("cpu", True),
        lambda: taeda.set_autocast_enabled("cpu", False),
        lambda: taeda.is_autocast_enabled("cpu"),
    ),
    "autocast dtype": (
        lambda: taeda.set_autocast_dtype("cpu", taeda.float16),
        lambda: taeda.set_autocast_dtype("cpu", taeda.bfloat16),
        lambda: taeda.get_autocast_dtype("cpu"),
    ),
    "autocast cache": (
        lambda: taeda.set_autocast_cache_enabled(False),
        lambda: taeda.set_autocast_cache_enabled(True),
        taeda.is_autocast_cache_enabled,
    ),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_a_switch_that_a_call_leaves_is_left_by_each_call(name):
    switch, back, seen = SWITCHES[name]

    def f(x):
        switch()
        return x * 2 + 1

    fast = taeda.compile(f)
    try:
        for _ in range(5):
            before = seen()
            fast(taeda.ones(2))
            assert seen() != before
            back()
            assert seen() == before
    finally:
        back()


def test_a_switch_that_is_put_back_is_no_reason():
    def f(x):
        with taeda.no_grad(), taeda.autocast("cpu"):
            made = x @ x
        taeda.set_grad_enabled(True)
        return made.float() + x

    fast = taeda.compile(f, fullgraph=True)
    for _ in range(4):
        x = taeda.rand(3, 3)
        assert taeda.equal(fast(x), f(x))
