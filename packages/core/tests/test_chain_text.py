"""The kernel tables as text of one function: every row that is promised is in it, and it compiles."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess

import pytest

from taeda import _chain_text
from taeda.cuda import _text
from taeda.cuda._programs import loops

F32, F64, I32 = (_text.DTYPES.index(name) for name in ("F32", "F64", "I32"))


def test_rows():
    assert _chain_text.row("sin", F32) == ("unary", "sin_f32_row_of")
    assert _chain_text.row("sign", F64) == ("unary_real", "sgn_f64_row_of")
    for name, dtype in (("sin", I32), ("pow", F32), ("where", F32), ("eq", F32), ("nothing", F32)):
        assert _chain_text.row(name, dtype) is None


def test_a_header_stands_there_once_and_no_table_does():
    text = _chain_text.expanded(["unary", "binary"])
    assert text.count("#define TD_VEC_H") == 1
    assert "td_loop_entry" not in text
    assert '#include "' not in text


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_every_row_is_a_function_of_vectors(tmp_path):
    families, calls = [], []
    tests = (
        "isnan",
        "isinf",
        "isposinf",
        "isneginf",
        "isfinite",
        "signbit",
    )  # whose results are bool
    for key in loops():
        name, kind = key.split()
        found = _chain_text.row(name, _text.DTYPES.index(kind))
        if found is None or name in tests:
            continue
        families.append(found[0])
        vector = "vf" if kind == "F32" else "vd"
        symbol = found[1].removesuffix("_of")
        calls.append(f'_Static_assert(sizeof({symbol}_v) == sizeof({vector}), "");')
        calls.append(f"const void *p_{len(calls)} = (const void *){found[1]};")
    assert len(calls) > 250
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
    for family in _chain_text._FAMILIES:
        _chain_text._expand(_text.FAMILIES[family], seen)
    assert "cpu/simd/vec.h" in seen
    assert seen <= set(_text.files())
    assert {"cpu/simd/chain/elementwise.h", "cpu/simd/chain/vrow.h"} <= set(_text.files())
