from __future__ import annotations

import subprocess
import sys

import pytest

import taeda
from taeda import compiler


def test_functions_and_decorators():
    def f(x):
        """Add one."""
        return x + 1

    made = taeda.compile(f)
    assert (made.__name__, made.__doc__) == ("f", "Add one.")
    assert compiler.disable(made)(taeda.ones(1)).equal(taeda.ones(1) + 1)
    assert taeda.compile(backend="eager")(f) is f
    assert taeda.compile(f, backend="no such", disable=True) is f
    assert taeda.compile(made).__taeda_original__ is f
    assert compiler.compile is taeda.compile
    for backend in compiler.list_backends():
        g = taeda.compile(f, backend=backend)
        assert all(g(taeda.ones(2)).equal(taeda.full((2,), 2.0)) for _ in range(4))
    compiler.reset()
    assert not made.__taeda_compiled__.traces
    assert not compiler.is_compiling()


def test_refusals():
    with pytest.raises(compiler.InvalidBackend, match="Invalid backend: 'nvfuser'"):
        taeda.compile(taeda.sin, backend="nvfuser")
    with pytest.raises(RuntimeError, match="Unrecognized mode=fast"):
        taeda.compile(taeda.sin, mode="fast")
    with pytest.raises(RuntimeError, match="Unexpected optimization option"):
        taeda.compile(taeda.sin, options={"x": 1})
    with pytest.raises(TypeError, match="wanted a function or a module"):
        taeda.compile(3)
    for wrong in ({"fullgraph": "no"}, {"dynamic": "yes"}, {"disable": 1}, {"options": [1]}):
        with pytest.raises(TypeError, match=f"compile: {next(iter(wrong))} is"):
            taeda.compile(taeda.sin, **wrong)
        with pytest.raises(TypeError, match=f"compile: {next(iter(wrong))} is"):
            taeda.compile(**wrong)


def test_the_backend_eager_captures_with_fullgraph():
    f = taeda.compile(lambda x: x * 2, fullgraph=True, backend="eager")
    assert [f(taeda.ones(1)).item() for _ in range(4)] == [2.0] * 4
    assert [t.trusted for ts in f.__taeda_compiled__.traces.values() for t in ts] == [True]
    with pytest.raises(compiler.Stop):
        taeda.compile(lambda x: x.item(), fullgraph=True, backend="eager")(taeda.ones(1))


def test_nobody_is_told_that_a_call_is_recorded():
    f = taeda.compile(lambda x: x * 2 if compiler.is_compiling() else x * 3)
    assert [f(taeda.ones(1)).item() for _ in range(4)] == [3.0] * 4
    assert [t.trusted for ts in f.__taeda_compiled__.traces.values() for t in ts] == [True]


def test_fullgraph_raises_at_the_line_that_breaks():
    def f(x):
        y = x * 2
        return y * y.sum().item()

    with pytest.raises(compiler.Stop, match=r"a value is read \(.*test_compiler.py:\d+\)"):
        taeda.compile(f, fullgraph=True)(taeda.ones(2))
    g = taeda.compile(lambda x: x * 2, fullgraph=True)
    assert all(g(taeda.ones(1)).item() == 2 for _ in range(4))


def test_programs_that_say_torch_are_graphs():
    program = """
import linecache
import taeda
taeda.install_as_torch()
import torch
import torch.nn.functional as F
text = "def f(x):\\n    return torch.relu(x - K) * 2 + F.gelu(x) + torch.zeros(2, dtype=torch.float32)\\n"
linecache.cache["<p>"] = (len(text), None, text.splitlines(True), "<p>")
K = 1.0
exec(compile(text, "<p>", "exec"))
g = torch.compile(f)
for n in range(6):
    K = 1.0 + n // 3
    x = torch.ones(2) * 3
    assert g(x).equal(f(x))
kept, taeda.relu = taeda.relu, taeda.tanh
assert g(x).equal(f(x))
state = g.__taeda_compiled__
print([t.trusted for ts in state.traces.values() for t in ts], state.reasons)
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "[True, True, False] []"
