"""The tests in C: what is found, what a failed check does, and what coverage asks."""

from __future__ import annotations

import subprocess
import sys

import by_path
import pytest

sys.path.insert(0, str(by_path.ROOT / "tools/hunt"))
c_tests = by_path.load("tools/hunt/c_tests.py")


def test_every_test_of_every_file_is_found():
    found = c_tests.discover()
    assert ("runtime/test_alloc.c", "the_nth_call_fails") in found
    assert len(found) == len(set(found)) > 50


def test_a_file_of_tests_mirrors_a_source():
    for file in {file for file, _ in c_tests.discover()} - {"cpu/test_loops.c"}:
        source = c_tests.CSRC / file.replace("test_", "")
        assert source.exists() or source.with_suffix(".h").exists(), file


@pytest.mark.parametrize(
    ("check", "status", "said"),
    [
        ("CHECK(1 == 1);", 0, ""),
        ("CHECK(1 == 2);", 1, "not so: 1 == 2"),
        ("EQUAL(3, 4);", 1, "3 is 3, not 4"),
        ("REFUSED(TD_OK, TD_TYPE_ERROR, \"x\");", 1, "gave status 0, not TD_TYPE_ERROR"),
    ],
)  # fmt: skip
def test_a_failed_check_fails_the_program(tmp_path, check, status, said):
    (tmp_path / "test_one.c").write_text(f'#include "harness.h"\nTEST(one)\n{{\n    {check}\n}}\n')
    tests = c_tests.discover(tmp_path)
    assert tests == [("test_one.c", "one")]
    (tmp_path / "main.c").write_text(c_tests.main_text(tests))
    sources = [tmp_path / "test_one.c", tmp_path / "main.c", *c_tests._support()]
    sources += [c_tests.CSRC / "runtime" / "error.c"]
    wrap = [f"-Wl,--wrap={name}" for name in c_tests.WRAPPED.split()]
    include = (f"-I{c_tests.CSRC}", f"-I{c_tests.TESTS}", "-DTEST_FILE=0")
    command = [*c_tests.cc.compiler(), *include, *map(str, sources), *wrap, "-lpthread"]
    subprocess.run([*command, "-o", str(tmp_path / "program")], check=True)
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=False)
    assert done.returncode == status
    assert said in done.stderr
    assert c_tests.run([str(tmp_path / "program")], ["test_one.c"]) == status


def test_rows_of_a_table_tell_their_operands():
    head = "(char *const *data, const int64_t *strides, int64_t n, const void *context)"
    text = (
        f"static void lt_f32{head} {{ static const uint8_t dtypes[] = {{TD_BOOL, TD_F32, TD_F32}}; x(); }}\n"
        f"static void not_lt{head} {{ lt_f32(data, strides, n, context); y(); }}\n"
        f"static void chosen{head} {{ z(); }}\n"
        f"static void neg_f16{head} {{ static const uint8_t dtypes[] = {{TD_I16, TD_I16}}; x(); }}\n"
        'const td_loop_entry td_table_few_x[] = { {"lt", TD_F32, lt_f32}, {"ge", TD_F32, not_lt}, '
        '{"pow", TD_F64, chosen}, {"neg", TD_F16, neg_f16}, {"neg", TD_I16, neg_f16}, {0} };'
    )
    three = ("TD_BOOL", "TD_F32", "TD_F32")
    assert list(c_tests.loop_rows(text, "few")) == [
        ("lt", "TD_F32", three),
        ("ge", "TD_F32", three),
        ("pow", "TD_F64", ()),
        ("neg", "TD_F16", ("TD_F16", "TD_F16")),  # it takes their bits as they lie
        ("neg", "TD_I16", ("TD_I16", "TD_I16")),
    ]


def test_too_few_branches_and_a_file_that_is_not_counted_are_told(capsys):
    enough = dict.fromkeys(c_tests.HELD, (96, 100))
    assert c_tests.judge(enough) == []
    assert "96.0 %" in capsys.readouterr().out
    (told,) = c_tests.judge({**enough, "alloc.c": (94, 100)})
    assert "alloc.c" in told and "94.0 %" in told
    del enough["shape.c"]
    assert c_tests.judge(enough) == ["shape.c: not counted"]
