"""Kernels of an installed package: they go before the folder of images and the compiler."""

from __future__ import annotations

import io
import zipfile

import pytest

from taeda.cuda import _cubins, _nvrtc, _programs

F32 = _programs.DTYPES.index("F32")
ADD = ("loop", "add", "F32", "F32", "flat")


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A folder of such a package, which is found."""
    monkeypatch.setattr(_cubins, "_folder", lambda: tmp_path)
    _cubins._archive.cache_clear()
    yield tmp_path
    _cubins._archive.cache_clear()


def put(folder, arch, entries):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    (folder / f"sm_{arch}.zip").write_bytes(made.getvalue())


def test_no_compiler_is_needed_for_what_is_there(package, monkeypatch, tmp_path):
    digest = _programs._digest(*_programs._found(*ADD), 90)
    put(package, 90, {digest: b"name of it\nimage"})
    monkeypatch.setattr(_nvrtc, "version", lambda: pytest.fail("NVRTC was opened"))
    assert _programs.program("loop", "add", F32, F32, "flat", 90) == (b"image", "name of it")
    assert _programs.is_kept(*ADD, 90)
    monkeypatch.undo()
    monkeypatch.setattr(_nvrtc, "version", lambda: (13, 0))
    monkeypatch.setattr(_nvrtc, "compile_text", lambda *_: (b"compiled", "s"))
    monkeypatch.setattr(_programs, "folder", lambda: None)
    assert not _programs.is_kept("loop", "sub", "F32", "F32", "flat", 90)
    assert _programs.program("loop", "sub", F32, F32, "flat", 90) == (b"compiled", "s")


def test_an_entry_is_what_a_program_finds(package, monkeypatch):
    monkeypatch.setattr(_nvrtc, "version", lambda: (13, 0))
    monkeypatch.setattr(_nvrtc, "compile_text", lambda *_: (b"made", "symbol"))
    monkeypatch.setattr(_programs, "folder", lambda: None)
    digest, content = _programs.entry(*ADD, 80)
    monkeypatch.setattr(_nvrtc, "compile_text", lambda *_: pytest.fail("it was compiled"))
    put(package, 80, {digest: content})
    _cubins._archive.cache_clear()
    assert _programs.program("loop", "add", F32, F32, "flat", 80) == (b"made", "symbol")


@pytest.mark.parametrize(
    "damage", [lambda b: b"no archive", lambda b: b[:40] + b"\xff" * 30 + b[70:]]
)
def test_a_damaged_archive_is_told_and_passed_over(package, damage):
    put(package, 90, {"a": b"symbol\n" + bytes(range(256)) * 40})
    path = package / "sm_90.zip"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(UserWarning, match=r"sm_90.zip is damaged, so kernels are compiled"):
        assert _cubins.find("a", 90) is None


def test_without_the_package_there_is_nothing(monkeypatch):
    _cubins._archive.cache_clear()
    monkeypatch.setattr(_cubins, "PACKAGE", "taeda_cuda_no_such_package")
    assert _cubins._folder() is None and _cubins.find("a", 90) is None
    _cubins._archive.cache_clear()
