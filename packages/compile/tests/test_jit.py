from __future__ import annotations

import warnings
from typing import Optional

import pytest

import taeda
from taeda import jit, nn


def test_script_gives_back_and_says_so_once(monkeypatch):
    monkeypatch.setattr(jit, "_warned", False)
    net = nn.Linear(2, 2)
    with pytest.warns(UserWarning, match="there is no TorchScript"):
        assert jit.script(net) is net
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jit.script(taeda.sin) is taeda.sin
    with pytest.raises(TypeError, match="got int"):
        jit.script(3)


def test_decorators_let_functions_be():
    def f(x):
        return x

    assert jit.ignore(f) is jit.unused(f) is jit.export(f) is jit.script_if_tracing(f) is f
    assert jit.ignore(drop=True)(f) is f
    assert jit.annotate(int, 3) == 3
    assert not jit.is_scripting()
    assert not jit.is_tracing()


def test_isinstance_looks_inside():
    assert jit.isinstance({"a": [1]}, dict[str, list[int]])
    assert not jit.isinstance({"a": ["1"]}, dict[str, list[int]])
    assert jit.isinstance((1, "a"), tuple[int, str])
    assert not jit.isinstance((1,), tuple[int, str])
    assert jit.isinstance((1, 2, 3), tuple[int, ...])
    assert jit.isinstance(None, Optional[int])  # noqa: UP045 - the older spelling is what is tested
    assert jit.isinstance(3, (str, int))


def test_forks_bring_results_and_errors():
    made = [jit.fork(taeda.full, (2,), k) for k in range(5)]
    assert [jit.wait(m).sum().item() for m in made] == [0, 2, 4, 6, 8]
    with pytest.raises(RuntimeError):
        jit.wait(jit.fork(taeda.ones(2).view, 3))
