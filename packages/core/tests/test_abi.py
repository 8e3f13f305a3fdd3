"""An extension compiled against the first header runs on today's core; others are refused with a sentence."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import taeda
from taeda._native import core

HERE = Path(__file__).parent / "extensions"
CURRENT = Path(taeda.__file__).parent / "include"
needs_compiler = pytest.mark.skipif(
    shutil.which("cc") is None, reason="no C compiler on this machine"
)


def build(source: Path, include: Path, out: Path, *flags: str) -> str:
    command = [
        "cc",
        "-shared",
        "-fPIC",
        "-O1",
        "-Wall",
        "-Werror",
        *flags,
        f"-I{include}",
        str(source),
        "-o",
        str(out),
    ]
    subprocess.run(command, check=True)
    return str(out)


@needs_compiler
@pytest.mark.parametrize(
    "include", [HERE / "abi_1_0", CURRENT], ids=["first header", "today's header"]
)
def test_extension_runs(tmp_path, include):
    kernel = core.load_extension(build(HERE / "scale.c", include, tmp_path / "scale.so"))["twice"]
    x = taeda.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    assert core.call_kernel(kernel, (x,)).tolist() == [[2.0, 6.0], [4.0, 8.0]]
    assert core.call_kernel(kernel, (taeda.empty(2, 3, device="meta"),)).shape == (2, 3)


@needs_compiler
def test_kernel_error_becomes_the_named_exception(tmp_path):
    kernel = core.load_extension(build(HERE / "scale.c", CURRENT, tmp_path / "scale.so"))["twice"]
    with pytest.raises(TypeError, match="twice: wanted float32"):
        core.call_kernel(kernel, (taeda.tensor([1]),))
    with pytest.raises(TypeError, match="takes 1 tensors, got 2"):
        core.call_kernel(kernel, (taeda.ones(1), taeda.ones(1)))


@needs_compiler
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int x;", "is no taeda extension"),
        (
            "#include <stdint.h>\nuint32_t taeda_ext_abi(void){return 2u<<16;}\nint32_t taeda_ext_init(void*a){return !a;}",
            r"needs taeda ABI 2\.0",
        ),
        (
            "#include <stdint.h>\nuint32_t taeda_ext_abi(void){return 1u<<16|99;}\nint32_t taeda_ext_init(void*a){return !a;}",
            r"needs taeda ABI 1\.99",
        ),
    ],
    ids=["no extension", "wrong major", "later minor"],
)
def test_others_are_refused(tmp_path, text, message):
    (tmp_path / "other.c").write_text(text)
    with pytest.raises(ImportError, match=message):
        core.load_extension(build(tmp_path / "other.c", CURRENT, tmp_path / "other.so"))


def test_missing_file_is_refused():
    with pytest.raises(ImportError, match="cannot open the extension"):
        core.load_extension("/nowhere/at-all.so")
