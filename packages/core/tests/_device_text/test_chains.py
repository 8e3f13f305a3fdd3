"""The kernel tables as text of one function: every row that is promised is in it, and it compiles."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess

import pytest

from taeda._device_text import CHAINED, FAMILIES, chains, files, loops, place
from taeda._native import core

F32, F64, I32, BF16, F16 = map(core.dtype_numbers.get, ("F32", "F64", "I32", "BF16", "F16"))


def test_rows():
    assert chains.row("sin", F32) == ("unary", "sin_f32_row_of")
    assert chains.row("sign", F64) == ("unary_real", "sgn_f64_row_of")
    assert chains.row("eq", F32) == ("compare", "eq_f32_row_of")
    assert chains.row("isnan", F64) == ("unary_real", "isnan_f64_row_of")
    for name, dtype in (("sin", I32), ("signbit", F32), ("where", F32), ("nothing", F32)):
        assert chains.row(name, dtype) is None


def test_short_floats_have_the_rows_of_float32():
    for dtype in (BF16, F16):
        assert chains.row("tanh", dtype) == ("unary", "tanh_f32_row_of")
        assert chains.row("lt", dtype) == ("compare", "lt_f32_row_of")
        assert chains.row("div_trunc", dtype) == ("binary", "div_trunc_f32_row_of")
    assert chains.row("nan_to_num", F16) == ("unary_real", "nan_to_num_f16_row_of")


def test_powers_have_rows_of_their_own():
    found = [chains.row("pow", F32, n)[1] for n in range(9)]
    assert found[:4] == [f"pow_{p}_f32_row_of" for p in ("general", "0", "1", "2")]
    assert found[-1] == "pow_minus_2_f32_row_of"
    assert chains.row("pow", BF16, 3) == ("binary_real", "pow_2_f32_row_of")


def test_a_header_stands_there_once_and_no_table_does():
    text = chains.expanded(["unary", "binary"])
    assert text.count("#define TD_VEC_H") == 1
    assert "td_loop_entry" not in text
    assert '#include "' not in text


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_every_row_is_a_function_of_vectors(tmp_path):
    families, calls = [], []
    for key in loops():
        name, kind = key.split()
        found = chains.row(name, core.dtype_numbers[kind])
        if found is None:
            continue
        families.append(found[0])
        symbol = found[1].removesuffix("_of")
        if found[0] not in ("compare", "logical") and not name.startswith("is"):  # no tests
            vector = "vd" if kind == "F64" else "vf"
            calls.append(f'_Static_assert(sizeof({symbol}_v) == sizeof({vector}), "");')
        calls.append(f"const void *p_{len(calls)} = (const void *){found[1]};")
    assert len(calls) > 500
    source = tmp_path / "rows.c"
    text = chains.expanded(list(dict.fromkeys(families)))
    source.write_text(f"{text}\n" + "\n".join(calls))
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run(
        [*compiler, "-std=gnu11", "-w", "-Werror=implicit", "-fsyntax-only", str(source)],
        check=True,
    )


def test_a_wheel_carries_all_of_it():
    seen = set()
    for family in CHAINED:
        chains._expand(FAMILIES[family].text, seen)
    assert "cpu/simd/vec.h" in seen
    carried = {place(name, "chain") for name in seen}
    assert carried <= set(files())
    own = ("elementwise.h", "vrow.h", "truths.h", "shorts.h")
    assert {f"cpu/simd/chain/{name}" for name in own} <= carried
