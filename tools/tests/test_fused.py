"""Fused products of complex numbers are found in machine code."""

from __future__ import annotations

import by_path
import pytest

fused = by_path.load("tools/hold/fused.py")


@pytest.mark.parametrize(
    ("instruction", "named"),
    [
        ("vfmaddsub231pd %ymm0,%ymm1,%ymm2", True),
        ("vfmsubadd132ps %xmm0,%xmm1,%xmm2", True),
        ("vfmadd231pd %ymm0,%ymm1,%ymm2", False),
        ("vaddsubpd %ymm0,%ymm1,%ymm2", False),
    ],
)
def test_functions_with_the_instruction_are_named(instruction, named):
    lines = ["0000 <first>:", "  0: ret", "0010 <second>:", f" 10: {instruction}", " 14: ret"]
    assert fused.fused(lines) == (["second"] if named else [])


def test_a_file_that_is_no_library_is_told(tmp_path, capfd):
    path = tmp_path / "x.so"
    path.write_text("text")
    assert fused.main([str(path)]) == 1
    assert "objdump ended with 1" in capfd.readouterr().out
