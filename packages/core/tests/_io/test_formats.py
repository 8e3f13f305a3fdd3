"""Every kind of file is told by its first bytes; what is no checkpoint is named, with what to do."""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import json
import lzma
import pickle
import sqlite3
import struct
import tarfile
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taeda
from taeda._io.formats import FORMATS, PEEK, identify
from taeda._io.safetensors import FormatError
from taeda._io.wrong import WRONG


def checkpoint():
    file = io.BytesIO()
    taeda.save({"w": taeda.ones(3)}, file)
    return file.getvalue()


def zipped():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("notes.txt", "nothing")
    return file.getvalue()


def tarred():
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("notes.txt"))
    return file.getvalue()


def database():
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("create table t (x)")
        return connection.serialize()


def big_endian():
    data = checkpoint()
    return data[:8][::-1] + data[8:]


def newer():
    data = checkpoint()
    return data.replace(b'"taeda.version":"1"', b'"taeda.version":"9"')


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
ONNX = b'\x08\x08\x12\x07pytorch\x1a\x062.13.0:\xa1\x01\n"\n\x01x\n\x01w\x12\x01y'
WRONG_FILES = {
    "empty": (b"", EOFError, "empty"),
    "cut in the length": (checkpoint()[:5], FormatError, "cut short"),
    "cut in the header": (checkpoint()[:100], FormatError, "truncated"),
    "cut in the data": (checkpoint()[:-1], FormatError, "truncated"),
    "html": (b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", FormatError, "web page"),
    "xml": (b'<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>', FormatError, "access"),
    "git lfs": (LFS, FormatError, "git lfs pull"),
    "7z": (b"7z\xbc\xaf\x27\x1c\x00\x04" + bytes(24), FormatError, "7z archive.*unpack"),
    "rar": (b"Rar!\x1a\x07\x01\x00" + bytes(24), FormatError, "RAR archive"),
    "zip": (zipped(), FormatError, "zip archive"),
    "gzip": (gzip.compress(b"x" * 100), FormatError, "gunzip"),
    "bzip2": (bz2.compress(b"x" * 100), FormatError, "bunzip2"),
    "xz": (lzma.compress(b"x" * 100), FormatError, "unxz"),
    "zstd": (b"\x28\xb5\x2f\xfd\x24\x00" + bytes(10), FormatError, "unzstd"),
    "tar": (tarred(), FormatError, "tar"),
    "hdf5": (b"\x89HDF\r\n\x1a\n" + bytes(40), FormatError, "h5py"),
    "onnx": (ONNX, FormatError, "ONNX"),
    "tflite": (b"\x1c\x00\x00\x00TFL3" + bytes(40), FormatError, "TensorFlow Lite"),
    "zero bytes": (bytes(5000), FormatError, "zero bytes only"),
    "big-endian": (big_endian(), FormatError, "big-endian"),
    "newer version": (newer(), FormatError, "version '9'"),
    "matlab": (b"MATLAB 5.0 MAT-file, Platform: GLNXA64" + bytes(100), FormatError, "loadmat"),
    "parquet": (b"PAR1" + bytes(30), FormatError, "pyarrow"),
    "arrow": (b"ARROW1\x00\x00" + bytes(30), FormatError, "pyarrow"),
    "sqlite": (database(), FormatError, "SQLite"),
    "pdf": (b"%PDF-1.7\n" + bytes(30), FormatError, "PDF"),
    "png": (b"\x89PNG\r\n\x1a\n" + bytes(30), FormatError, "picture"),
    "program": (b"\x7fELF\x02\x01\x01" + bytes(30), FormatError, "program"),
    "json": (json.dumps({"weight_map": {"a": "x-00001.safetensors"}}).encode(), FormatError, "index"),
    "noise": (struct.pack("<8Q", *range(1 << 60, (1 << 60) + 8)), FormatError, "no kind of file"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_FILES)
def test_wrong_files_are_named(name, tmp_path):
    content, error, fact = WRONG_FILES[name]
    path = tmp_path / "file.pt"
    path.write_bytes(content)
    for source in (path, io.BytesIO(content)):
        with pytest.raises(error, match=fact):
            taeda.load(source)


def test_a_folder_is_named(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        taeda.load(tmp_path)


def test_a_checkpoint_is_recognised_with_any_of_its_first_bytes_damaged():
    data = checkpoint()
    for place in range(9):
        damaged = data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]
        assert identify(damaged[:PEEK]) is FORMATS[0]


def test_every_row_says_what_to_do():
    for wrong in WRONG:
        assert wrong.advice
        assert wrong.name.split()[0] in ("a", "an")


def test_options_without_meaning_for_a_kind_are_refused():
    with pytest.raises(TypeError, match="sideways has no meaning for a safetensors file"):
        FORMATS[0].read(io.BytesIO(checkpoint()), None, False, sideways=True)


# ---- every kind of file with a few other bytes in its header ----


def numpys(write, value):
    file = io.BytesIO()
    write(file, value)
    return file.getvalue()


def pt_zip():
    file = io.BytesIO()
    taeda.save({"w": taeda.ones(3), "n": [1, "a"]}, file, format="pt")
    return file.getvalue()


def legacy():
    head = b"".join(pickle.dumps(part, 2) for part in (0x1950A86A20F9469CFC6C, 1001, {}))
    words = b"ctorch._utils\n_rebuild_tensor_v2\n((X\7\0\0\0storagectorch\nFloatStorage\nX\1\0\0\0"
    words += b"0X\3\0\0\0cpuK\3NtQK\0K\3\x85K\1\x85\x89NtR"
    keys = pickle.dumps(["0"], 2)
    return head + b"\x80\x02" + words + b"." + keys + struct.pack("<q3f", 3, 1, 1, 1)


def gguf():
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1)
    head += struct.pack("<Q", 1) + b"k" + struct.pack("<II", 4, 7)  # a fact: k is 7
    head += struct.pack("<Q", 1) + b"w" + struct.pack("<IQIQ", 1, 3, 0, 0)
    return head + b"\0" * (-len(head) % 32) + struct.pack("<3f", 1, 1, 1) + b"\0" * 20


def plain_safetensors():
    text = json.dumps({"w": {"dtype": "F32", "shape": [3], "data_offsets": [0, 12]}}).encode()
    return len(text).to_bytes(8, "little") + text + struct.pack("<3f", 1, 1, 1)


KINDS = {
    "safetensors": plain_safetensors(),
    "pt": pt_zip(),
    "legacy": legacy(),
    "gguf": gguf(),
    "npy": numpys(np.save, np.ones(3, np.float32)),
    "npz": numpys(lambda f, a: np.savez(f, w=a), np.ones(3, np.float32)),
}


def loaded(data):
    return taeda.load(io.BytesIO(data))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_read(kind):
    made = loaded(KINDS[kind])
    made = made.get("w", made) if isinstance(made, dict) else made
    assert made.tolist() == [1, 1, 1]


def sizes(value):
    """The bytes of every tensor in what was read."""
    if isinstance(value, taeda.Tensor):
        return [value.untyped_storage().nbytes()]
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    return [n for part in value for n in sizes(part)] if isinstance(value, (list, tuple)) else []


@pytest.mark.parametrize("kind", KINDS)
@settings(derandomize=True, database=None, deadline=None, max_examples=200)
@given(data=st.data())
def test_a_file_with_other_bytes_is_read_or_refused(kind, data):
    """No other exception, and no tensor larger than the file; a zip, which has checksums, gives
    what it gave or is refused.
    """
    whole = bytearray(KINDS[kind])
    for _ in range(data.draw(st.integers(1, 3))):
        whole = whole or bytearray(b"x")  # an empty file is another error, EOFError
        place = data.draw(st.integers(0, len(whole) - 1))
        change = data.draw(st.sampled_from(["set", "flip", "insert", "delete", "cut"]))
        value = data.draw(st.integers(0, 255))
        if change == "set":
            whole[place] = value
        elif change == "flip":
            whole[place] ^= 1 << value % 8
        elif change == "insert":
            whole.insert(place, value)
        elif change == "delete":
            del whole[place : place + value % 9]
        else:
            del whole[max(1, len(whole) - value) :]
    try:
        made = loaded(bytes(whole or b"x"))
    except FormatError:
        return
    except RuntimeError as error:  # the name of a device is what changed
        if "which is not here" not in str(error):
            raise
        return
    assert max(sizes(made), default=0) <= len(whole)
    if kind in ("pt", "npz"):
        assert repr(made) == repr(loaded(KINDS[kind]))
