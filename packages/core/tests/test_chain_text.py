"""The kernel tables as text of one function: every row that is promised is in it, and it compiles."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess

import pytest

from taeda import _chain_text
from taeda.cuda import _text
from taeda.cuda._programs import DTYPES, loops

F32, F64, I32, BF16, F16 = map(DTYPES.index, ("F32", "F64", "I32", "BF16", "F16"))


def test_rows():
    assert _chain_text.row("sin", F32) == ("unary", "sin_f32_row_of")
    assert _chain_text.row("sign", F64) == ("unary_real", "sgn_f64_row_of")
    assert _chain_text.row("eq", F32) == ("compare", "eq_f32_row_of")
    assert _chain_text.row("isnan", F64) == ("unary_real", "isnan_f64_row_of")
    for name, dtype in (("sin", I32), ("signbit", F32), ("where", F32), ("nothing", F32)):
        assert _chain_text.row(name, dtype) is None


def test_short_floats_have_the_rows_of_float32():
    for dtype in (BF16, F16):
        assert _chain_text.row("tanh", dtype) == ("unary", "tanh_f32_row_of")
        assert _chain_text.row("lt", dtype) == ("compare", "lt_f32_row_of")
        assert _chain_text.row("div_trunc", dtype) == ("binary", "div_trunc_f32_row_of")
    assert _chain_text.row("nan_to_num", F16) == ("unary_real", "nan_to_num_f16_row_of")


def test_powers_have_rows_of_their_own():
    found = [_chain_text.row("pow", F32, n)[1] for n in range(9)]
    assert found[:4] == [f"pow_{p}_f32_row_of" for p in ("general", "0", "1", "2")]
    assert found[-1] == "pow_minus_2_f32_row_of"
    assert _chain_text.row("pow", BF16, 3) == ("binary_real", "pow_2_f32_row_of")


def test_a_header_stands_there_once_and_no_table_does():
    text = _chain_text.expanded(["unary", "binary"])
    assert text.count("#define TD_VEC_H") == 1
    assert "td_loop_entry" not in text
    assert '#include "' not in text


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_every_row_is_a_function_of_vectors(tmp_path):
    families, calls = [], []
    for key in loops():
        name, kind = key.split()
        found = _chain_text.row(name, DTYPES.index(kind))
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
    text = _chain_text.expanded(list(dict.fromkeys(families)))
    source.write_text(f"{text}\n" + "\n".join(calls))
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run(
        [*compiler, "-std=gnu11", "-w", "-Werror=implicit", "-fsyntax-only", str(source)],
        check=True,
    )


def test_a_wheel_carries_all_of_it():
    seen = set()
    for family in _text.CHAINED:
        _chain_text._expand(_text.FAMILIES[family], seen)
    assert "cpu/simd/vec.h" in seen
    carried = {_text.place(name, "chain") for name in seen}
    assert carried <= set(_text.files())
    own = ("elementwise.h", "vrow.h", "truths.h", "shorts.h")
    assert {f"cpu/simd/chain/{name}" for name in own} <= carried
