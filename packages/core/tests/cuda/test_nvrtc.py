"""NVRTC by its stand-in: what it is given, what comes back, and what is said when it fails."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from taeda.cuda import _nvrtc

sys.path.insert(0, str(Path(__file__).parent))
import standin

KERNEL = "extern void kernel(void);"


@pytest.fixture
def nvrtc(monkeypatch, tmp_path):
    """A compiler that copies the program behind its header's text, or says why not."""
    script = tmp_path / "compile.sh"
    script.write_text(
        'cd "$1"\n'
        'if grep -q refuse program.cpp; then echo "line 1: refuse it"; exit 1; fi\n'
        "cat include/h.h program.cpp names >image\n"
    )
    for name, value in standin.environment().items():
        if name.startswith("TAEDA_LIB"):
            monkeypatch.setenv(name, value)
    monkeypatch.setenv("TAEDA_NULL_COMPILE", f"sh {script}")
    monkeypatch.setenv("TAEDA_NULL_FOLDER", str(tmp_path))
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    _nvrtc.library.cache_clear()
    _nvrtc.version.cache_clear()


def compiled(text: str = KERNEL) -> tuple[bytes, str]:
    headers = {"include/h.h": "a header;\n"}
    return _nvrtc.compile_text(text, headers, "kernel", ("--std=c++17", "-I."))


def test_the_image_and_the_symbol_come_back(nvrtc):
    image, symbol = compiled()
    assert image.rstrip(b"\0").decode() == f"a header;\n{KERNEL}kernel\n"
    assert symbol == "kernel"


def test_the_version_of_the_library(nvrtc):
    assert _nvrtc.version() == (0, 0)


def test_the_words_of_the_compiler_are_told(nvrtc):
    with pytest.raises(RuntimeError) as told:
        compiled("refuse")
    assert str(told.value) == "the kernel kernel does not compile:\nline 1: refuse it\n"
    assert compiled()[1] == "kernel"  # a program that failed leaves nothing behind


def test_a_program_that_is_not_taken(nvrtc, monkeypatch):
    monkeypatch.setenv("TAEDA_NULL_FOLDER", str(nvrtc / "nowhere"))
    with pytest.raises(RuntimeError, match=r"NVRTC does not take a program \(code 1\)"):
        compiled()


def test_without_the_library(nvrtc, monkeypatch):
    monkeypatch.setenv("TAEDA_LIBNVRTC", str(nvrtc / "none.so"))
    with pytest.raises(RuntimeError, match=r"none\.so was not found; install it with `pip install"):
        _nvrtc.version()
