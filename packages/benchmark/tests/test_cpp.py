from __future__ import annotations

import importlib.util
import shutil

import pytest

from taeda.utils.benchmark import Language, Timer

if importlib.util.find_spec("taeda.utils.cpp_extension") is None:
    pytest.skip(
        "statements in C++ need taeda-cpp-extension, an optional dependency",
        allow_module_level=True,
    )
if shutil.which("c++") is None and shutil.which("g++") is None:
    pytest.skip("statements in C++ need a C++ compiler", allow_module_level=True)


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.setenv("TAEDA_EXTENSIONS_DIR", str(tmp_path))


def test_a_statement_in_cpp():
    timer = Timer(
        "for (int i = 0; i < n; i++) sum = sum * 1.5 + i;",
        "volatile double sum = 0; int n = 1000;",
        language="c++",
    )
    m = timer.timeit(100)
    assert 1e-8 < m.median < 1e-3  # a thousand dependent additions, even on a busy machine
    assert m.task_spec.stmt.startswith("for")


def test_global_setup_and_an_own_clock(clock):
    timer = Timer(
        "square(3);",
        global_setup="static int square(int x) { return x * x; }",
        language=Language.CPP,
        timer=clock,
    )
    assert timer.timeit(5).raw_times == [0.0]


def test_the_compilers_words_are_shown():
    with pytest.raises(RuntimeError, match="nonsense"):
        Timer("nonsense(1);", language="cpp").timeit(1)
