"""`python -m taeda.cuda.warm` with a compiler that makes nothing: what is compiled, kept, refused."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile

import pytest

import taeda
from taeda.cuda import _catalogue, _nvrtc, _programs, warm


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """The names of the kernels that were compiled."""
    names = []

    def compile_text(text, headers, name, options):
        if "td_loss" in name:
            raise RuntimeError(
                f"the kernel {name} does not compile:\nline 1\nline 2\nline 3\nline 4"
            )
        names.append((name, options[-1]))
        return b"image", name

    monkeypatch.setattr(_nvrtc, "compile_text", compile_text)
    monkeypatch.setattr(_nvrtc, "version", lambda: (13, 0))
    monkeypatch.setattr(_programs, "folder", lambda: tmp_path)
    monkeypatch.setattr(_programs, "place", lambda: tmp_path)
    return names


def test_what_is_there_is_left_alone(compiled, capsys):
    command = ["--arch", "80", "90", "--ops", "add", "sum", "--dtypes", "float32", "bfloat16"]
    assert warm.main(command) == 0
    kernels = _catalogue.programs(["add", "sum"], ["F32", "BF16"])
    assert len(compiled) == len(set(compiled)) == 2 * len(kernels)
    said = capsys.readouterr().out
    assert f"sm_80: {len(kernels)} kernels, {len(kernels)} compiled and 0 there before" in said
    assert warm.main([*command[:3], "--ops", "add"]) == 0 and len(compiled) == 2 * len(kernels)
    assert "0 compiled and" in capsys.readouterr().out
    number = _programs.DTYPES.index("BF16")
    image = _programs.program("loop", "add", number, number, "flat", 90)  # as the core asks
    assert image[0] == b"image" and len(compiled) == 2 * len(kernels)


def test_a_kernel_that_is_not_whole_is_compiled_again(compiled, tmp_path):
    assert warm.main(["--arch", "90", "--ops", "add"]) == 0
    count = len(compiled)
    next(tmp_path.iterdir()).write_bytes(b"")
    assert warm.main(["--arch", "90", "--ops", "add"]) == 0
    assert len(compiled) == count + 1


def test_one_that_does_not_compile_is_told(compiled, capsys):
    assert warm.main(["--arch", "90", "--ops", "loss", "--jobs", "1"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "taeda.cuda.warm: sm_90: the kernel td_loss" in told.err and "line 2" in told.err
    assert "line 4" not in told.err  # the beginning of the compiler's words is enough


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ops", "ad"], "--ops: there are no kernels called 'ad'; did you mean add"),
        (["--ops", "qqqq"], "--ops: there are no kernels called 'qqqq', --list names"),
        (["--dtypes", "float31"], "--dtypes: there are no kernels called 'float31'; did you mean"),
        ([], "there is no device here: name architectures, as in --arch 80 90"),
    ],
)
def test_what_it_does_not_know(compiled, monkeypatch, capsys, arguments, words):
    monkeypatch.setattr("taeda.cuda._devices.device_count", lambda: 0)
    assert warm.main(arguments) == 1
    assert words in capsys.readouterr().err and not compiled


def test_the_architectures_of_the_devices_here(compiled, monkeypatch, capsys):
    monkeypatch.setattr("taeda.cuda._devices.device_count", lambda: 3)
    monkeypatch.setattr("taeda.cuda._devices.get_device_capability", lambda k: (8 + k // 2, 0))
    assert warm.main(["--ops", "add"]) == 0
    assert {arch for _, arch in compiled} == {
        "--gpu-architecture=sm_80",
        "--gpu-architecture=sm_90",
    }


def test_a_wheel_of_what_was_compiled(compiled, tmp_path, capsys):
    made = tmp_path / "made" / "here"
    command = ["--arch", "80", "90", "--ops", "add", "--wheel", str(made)]
    assert warm.main(command) == 0
    (wheel,) = made.iterdir()
    assert f"{wheel}: 0.0 MB; install it with pip" in capsys.readouterr().out
    with zipfile.ZipFile(wheel) as archive:
        assert {"taeda_cuda_cubins/sm_80.zip", "taeda_cuda_cubins/sm_90.zip"} <= set(
            archive.namelist()
        )
    before = wheel.read_bytes()
    assert warm.main(command) == 0 and wheel.read_bytes() == before  # the same kernels


def test_a_wheel_that_cannot_be_written(compiled, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert warm.main(["--arch", "90", "--ops", "add", "--wheel", str(tmp_path / "file")]) == 1
    assert "taeda.cuda.warm: " in capsys.readouterr().err


def test_a_folder_that_cannot_be_written(compiled, monkeypatch, capsys):
    monkeypatch.setattr(_programs, "folder", lambda: None)
    assert warm.main(["--arch", "90"]) == 1
    assert "kernels cannot be kept in" in capsys.readouterr().err and not compiled


def test_a_bar_on_a_terminal(compiled, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stderr", screen := Terminal())
    assert warm.main(["--arch", "90", "--ops", "add", "--jobs", "1"]) == 0
    lines = screen.getvalue().split("\r")[1:]
    assert len(lines) == len(compiled) and lines[-1].endswith("\n")
    assert f"sm_90 [{'#' * 30}] {len(compiled)} of {len(compiled)}, " in lines[-1]


def test_the_command(tmp_path):
    command = [sys.executable, "-m", "taeda.cuda.warm"]
    listed = subprocess.run([*command, "--list"], capture_output=True, text=True, check=True)
    assert {"add", "matmul", "sum"} <= set(listed.stdout.split())
    environment = {"TAEDA_LIBNVRTC": "/nowhere/libnvrtc.so", "TAEDA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [*command, "--arch", "90"], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 1 and not list(tmp_path.iterdir())
    assert "kernels cannot be compiled: /nowhere/libnvrtc.so was not found" in done.stderr


def test_dtypes_have_their_names():
    assert [str(getattr(taeda, name)) for name in warm.NAMES] == [f"taeda.{n}" for n in warm.NAMES]
    assert list(warm.DTYPES.values()) == list(_programs.DTYPES[: len(warm.NAMES)])
    assert warm.DTYPES["bfloat16"] == "BF16" and warm.DTYPES["complex128"] == "C128"
