"""Files that torch writes are read bit for bit, in a process where torch cannot be imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from by_path import load

torch = pytest.importorskip("torch")
from describe import describe  # noqa: E402 - after torch, whose absence skips this file

import taeda  # noqa: E402

files = load("packages/core/tests_parity/_io/torch_files.py")

READER = """
import json, sys
sys.modules["torch"] = None  # importing it is an error from here on
import taeda
from describe import describe
for line in sys.stdin:
    path, mapped = json.loads(line)
    print(json.dumps(describe(taeda.load(path, mmap=mapped), taeda)), flush=True)
"""


@pytest.fixture(scope="module")
def read():
    """A function that reads a file in another process and describes what was in it."""
    tools = Path(describe.__code__.co_filename).parent
    child = subprocess.Popen(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(tools)!r})\n{READER}"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )

    def ask(path, mapped=False):
        child.stdin.write(json.dumps([str(path), mapped]) + "\n")
        child.stdin.flush()
        return json.loads(child.stdout.readline())

    with child:
        yield ask
        child.stdin.close()


@pytest.fixture(scope="module")
def objects():
    return files.objects()


def cannot_be_read_by_torch(name, form):
    """Storages without a dtype of their own: torch writes them in the older form, and fails to read."""
    newer = ("uint16", "uint32", "uint64", "float8", "complex32")
    return form == "legacy" and (name == "storage" or any(part in name for part in newer))


@pytest.mark.parametrize("form", files.FORMS)
def test_equal(form, objects, read, tmp_path):
    compared = 0
    for name, value in objects.items():
        path = tmp_path / "file.pt"
        torch.save(value, path, **files.FORMS[form])
        if cannot_be_read_by_torch(name, form):
            continue
        # torch reads back a storage of bytes as one of numbers; we, as what was saved
        back = value if name == "storage" else torch.load(path, weights_only=False)
        wanted = json.loads(json.dumps(describe(back, torch)))
        assert read(path) == wanted, name
        if form != "legacy":
            assert read(path, mapped=True) == wanted, name
        compared += 1
    assert compared >= (85 if form == "legacy" else 100)


def test_files_without_checksums(objects, read, tmp_path):
    path = tmp_path / "file.pt"
    before = torch.serialization.get_crc32_options()
    torch.serialization.set_crc32_options(False)
    try:
        torch.save(objects["shared"], path)
    finally:
        torch.serialization.set_crc32_options(before)
    assert read(path) == json.loads(json.dumps(describe(objects["shared"], torch)))


@pytest.mark.parametrize("name", ["shared", "tied", "layouts", "optimizer Adam", "module tree"])
@pytest.mark.parametrize("mmap", [False, True])
def test_torch_reads_what_we_write(name, mmap, objects, tmp_path):
    check_written(objects[name], tmp_path, mmap=mmap)


def test_torch_reads_every_dtype_and_container(objects, tmp_path):
    for name, value in objects.items():
        if not name.startswith(("numpy", "storage")):
            safe = name not in ("container sets", "container default", "all containers")
            check_written(value, tmp_path, weights_only=safe)


def check_written(value, folder, **options):
    """torch's object, through torch's file, ours, and back."""
    torch.save(value, folder / "theirs.pt")
    made = taeda.load(folder / "theirs.pt")
    taeda.save(made, folder / "ours.pt", format="pt")
    back = torch.load(folder / "ours.pt", **({"weights_only": True} | options))
    wanted = torch.load(folder / "theirs.pt", weights_only=False)
    assert describe(back, torch) == describe(wanted, torch)
