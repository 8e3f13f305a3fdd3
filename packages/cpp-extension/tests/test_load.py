"""Building while a program runs: what is built again, what is refused, and who waits for whom."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from plain_extension import PLAIN_C, code, write

import taeda
from taeda.utils.cpp_extension import load, load_inline


def test_unchanged_is_not_built_again(tmp_path, own_cache):
    source = write(tmp_path / "plain.c")
    first = load("plain", source)
    times = {path: path.stat().st_mtime_ns for path in own_cache.rglob("*") if path.is_file()}
    os.utime(source)
    assert load("plain", source) is first
    assert times == {p: p.stat().st_mtime_ns for p in times}


def test_another_process_finds_it_built(tmp_path, own_cache):
    source = write(tmp_path / "plain.c", 3)
    module = load("plain", source)
    written = Path(module.__file__).stat().st_mtime_ns
    assert run(f"print(load('plain', {source!r}).answer().item())") == "3.0"
    assert Path(module.__file__).stat().st_mtime_ns == written


def test_changed_flags_and_headers_are_never_stale(tmp_path):
    (tmp_path / "value.h").write_text("#define VALUE 5\n")
    text = '#include "value.h"\n' + PLAIN_C.format(answer="VALUE + MORE")
    (tmp_path / "plain.c").write_text(text)

    def built(more: int) -> float:
        flags = [f"-DMORE={more}"]
        return load("plain", [str(tmp_path / "plain.c")], extra_cflags=flags).answer().item()

    assert [built(0), built(1)] == [5, 6]
    (tmp_path / "value.h").write_text("#define VALUE 50\n")
    assert built(0) == 50


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"sources": ["gone.c"]}, FileNotFoundError, "extension 'x': no source file .*gone.c"),
        ({"sources": []}, ValueError, "sources is empty"),
        ({"sources": [3]}, TypeError, "sources must be a str or a list of str, and has a int"),
        ({"sources": None}, TypeError, "sources must be a str or a list of str, not NoneType"),
        ({"extra_ldflags": 3}, TypeError, "extra_ldflags must be a str or a list of str, not int"),
        ({"name": 3}, TypeError, "name must be a str, not int"),
        ({"name": "../x"}, ValueError, "wanted letters, digits and underscores, got '../x'"),
        ({"is_standalone": True}, ValueError, "pass is_python_module=False with it"),
        ({"extra_cflags": "-O2"}, TypeError, "extra_cflags must be a list of str"),
        ({"with_sycl": True}, NotImplementedError, "no SYCL"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_bad_input(tmp_path, change, error, message):
    arguments = {"name": "x", "sources": [write(tmp_path / "x.c")]} | change
    with pytest.raises(error, match=message):
        load(**arguments)


# ---- processes ----


def run(body: str) -> str:
    return subprocess.check_output(code(body), text=True).strip()


# ---- texts ----
def test_inline_functions_docstrings_and_errors():
    source = """
    namespace inner { taeda::Tensor three(taeda::Tensor x) { return taeda::full<float>({x.size(0)}, 3.0f); } }
    taeda::Tensor first(taeda::Tensor x) { return taeda::scalar<double>(x.item<double>()); }
    """
    functions = {"first": 'the "only" element?', "inner::three": "threes"}
    module = load_inline(
        "inline_one", [source, "// more"], functions=functions, extra_cflags=["-O0"]
    )
    assert module.first(taeda.tensor([4.0])).item() == 4
    assert 'the "only" element?' in module.first.__doc__
    assert module.three(taeda.zeros(2)).tolist() == [3, 3]
    with pytest.raises(ValueError, match="item: wanted one element, got shape \\[2\\]"):
        module.first(taeda.zeros(2))


def test_inline_without_functions_needs_a_module():
    with pytest.raises(ImportError, match="List functions to bind"):
        load_inline("nothing", "int x;", extra_cflags=["-O0"], no_implicit_headers=True)


@pytest.mark.parametrize(
    ("functions", "message"),
    [(3, "must be a list of names or a dict"), (["f;"], "'f;' is no name"), ([3], "3 is no name")],
)
def test_bad_functions(functions, message):
    with pytest.raises(ValueError, match=message):
        load_inline("x", "", functions=functions)
