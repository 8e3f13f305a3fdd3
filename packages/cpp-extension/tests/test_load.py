"""Building while a program runs: what is built again, what is refused, and who waits for whom."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

import taeda
from taeda.utils.cpp_extension import load, load_inline

PLAIN_C = """
#include <taeda/abi.h>
static const taeda_api *api;
static int32_t answer(const taeda_call *call)
{{
    int32_t code = api->empty(TAEDA_FLOAT32, 0, (int64_t[1]){{0}}, 1, &call->outputs[0], call->error);
    taeda_facts facts = {{.size = sizeof facts}};
    if (code) return code;
    api->facts(call->outputs[0], &facts);
    *(float *)facts.data = {answer};
    return 0;
}}
uint32_t taeda_ext_abi(void) {{ return TAEDA_ABI; }}
int32_t taeda_ext_init(const taeda_api *given)
{{
    api = given;
    return api->register_kernel("answer", 0, 1, answer, 0);
}}
"""


def write(path: Path, answer: object = 1) -> str:
    path.write_text(PLAIN_C.format(answer=answer))
    return str(path)


def test_plain_c_becomes_a_module(tmp_path):
    module = load("plain", [write(tmp_path / "plain.c", 7)])
    assert module.__name__ == "plain"
    assert module.answer().item() == 7


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


def test_a_changed_source_is_never_stale(tmp_path):
    """Each version gets a library of its own, because a loaded one cannot be replaced; going back finds the first."""
    source = write(tmp_path / "plain.c", 1)
    first = load("plain", source)
    second = load("plain", write(tmp_path / "plain.c", 2))
    again = load("plain", write(tmp_path / "plain.c", 1))
    assert [m.answer().item() for m in (first, second, again)] == [1, 2, 1]
    assert [Path(m.__file__).name for m in (first, second)] == ["plain.so", "plain_v1.so"]
    assert again is first
    assert second.__name__ == "plain"


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


def test_build_directory_and_verbose(tmp_path, capsys):
    folder = tmp_path / "here" / "there"
    module = load("plain", write(tmp_path / "plain.c"), build_directory=folder, verbose=True)
    assert Path(module.__file__) == folder / "plain.so"
    said = capsys.readouterr().err
    assert "plain: compiling 1 of 1: plain.c" in said and "plain: linking plain.so" in said


def test_intermediates_go_when_not_wanted(tmp_path, own_cache):
    load("plain", write(tmp_path / "plain.c"), keep_intermediates=False)
    assert not list(own_cache.rglob("*.o"))


def test_a_library_for_its_side_effects_and_an_executable(tmp_path):
    path = load("plain", write(tmp_path / "plain.c"), is_python_module=False)
    assert Path(path).name == "plain.so"
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\nint main(void) { puts("hello"); return 0; }\n'
    )
    source = str(tmp_path / "main.c")
    program = load("hello", source, is_python_module=False, is_standalone=True)
    assert subprocess.check_output([program], text=True) == "hello\n"


def test_a_python_extension_is_imported(tmp_path):
    (tmp_path / "py.c").write_text(
        "#define PY_SSIZE_T_CLEAN\n#include <Python.h>\n"
        'static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "py", "doc", -1, 0};\n'
        "PyMODINIT_FUNC PyInit_py(void) { return PyModule_Create(&def); }\n"
    )
    import sysconfig

    include = [sysconfig.get_path("include")]
    module = load("py", str(tmp_path / "py.c"), extra_include_paths=include)
    assert (module.__name__, module.__doc__) == ("py", "doc")
    with pytest.raises(ImportError, match=r"defines no module 'other'.*PyInit_other"):
        load("other", str(tmp_path / "py.c"), extra_include_paths=include)


def test_the_compilers_words_are_in_the_error(tmp_path):
    (tmp_path / "bad.c").write_text("int f(void) { return wrong_name; }\n")
    with pytest.raises(RuntimeError, match=r"(?s)Error building extension 'bad'.*wrong_name"):
        load("bad", str(tmp_path / "bad.c"))
    assert load("bad", write(tmp_path / "bad.c", 4)).answer().item() == 4  # the lock is free


@pytest.mark.parametrize(
    "text",
    [
        "#include <torch/extension.h>\n",
        "torch::Tensor twice(torch::Tensor x) { return x; }\n",
        "at::Tensor x;\n",
        "auto n = c10::kFloat;\n",
    ],
)
def test_an_extension_of_pytorch_is_told_where_to_read(tmp_path, text):
    (tmp_path / "ported.cpp").write_text(text)
    with pytest.raises(RuntimeError, match=r"(?s)Error building.*Port an extension"):
        load("ported", str(tmp_path / "ported.cpp"))
    (tmp_path / "bad.cpp").write_text("int f() { return wrong_name; }\n")
    with pytest.raises(RuntimeError) as caught:
        load("ported", str(tmp_path / "bad.cpp"))
    assert "Port an extension" not in str(caught.value)


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


def test_an_unknown_kind_of_source(tmp_path):
    (tmp_path / "x.rs").write_text("")
    with pytest.raises(
        ValueError, match=r"x\.rs: no compiler for sources that end so; known are \.c"
    ):
        load("x", str(tmp_path / "x.rs"))


def test_no_compiler(tmp_path, monkeypatch):
    (tmp_path / "x.cpp").write_text("")
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(RuntimeError, match=r"'x': .*no C\+\+ compiler here \(looked for \$CXX"):
        load("x", str(tmp_path / "x.cpp"))


def test_max_jobs(tmp_path, monkeypatch):
    monkeypatch.setenv("MAX_JOBS", "many")
    with pytest.raises(ValueError, match="MAX_JOBS must be a whole number, 0 or more, got 'many'"):
        load("x", write(tmp_path / "x.c"))


# ---- processes ----
SLOW_COMPILER = """#!/bin/sh
case "$*" in *" -c "*) echo compiled >> {log}; sleep {seconds};; esac
exec cc "$@"
"""


def slow_compiler(tmp_path, seconds: float) -> tuple[dict[str, str], Path]:
    """An environment whose C compiler takes its time and notes each file it compiles."""
    log, script = tmp_path / "log", tmp_path / "slow-cc"
    script.write_text(SLOW_COMPILER.format(log=log, seconds=seconds))
    script.chmod(0o755)
    return {**os.environ, "CC": str(script)}, log


def code(body: str) -> list[str]:
    head = "from taeda.utils.cpp_extension import load, load_inline"
    return [sys.executable, "-c", f"{head}\n{textwrap.dedent(body)}"]


def run(body: str) -> str:
    return subprocess.check_output(code(body), text=True).strip()


def test_two_processes_at_once_build_once(tmp_path):
    env, log = slow_compiler(tmp_path, 0.5)
    source = write(tmp_path / "plain.c", 9)
    body = f"print(load('plain', {source!r}).answer().item())"
    both = [subprocess.Popen(code(body), env=env, stdout=subprocess.PIPE) for _ in range(2)]
    assert [p.communicate()[0].strip() for p in both] == [b"9.0", b"9.0"]
    assert log.read_text() == "compiled\n"


def test_a_killed_builder_leaves_no_lock(tmp_path):
    env, log = slow_compiler(tmp_path, 60)
    source = write(tmp_path / "plain.c", 9)
    builder = subprocess.Popen(code(f"load('plain', {source!r})"), env=env, start_new_session=True)
    while not log.exists():
        assert builder.poll() is None
        time.sleep(0.01)
    builder.send_signal(signal.SIGKILL)
    builder.wait()
    try:
        assert load("plain", source).answer().item() == 9
    finally:
        os.killpg(builder.pid, signal.SIGKILL)  # the compiler that it left behind


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
