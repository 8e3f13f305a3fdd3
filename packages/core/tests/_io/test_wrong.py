"""Files that people hand to `load` by mistake."""

from __future__ import annotations

import pickle

import pytest

import taeda
from taeda._io.wrong import WRONG, is_big_endian

BEGIN = {
    "a Git LFS pointer": b"version https://git-lfs.github.com/spec/v1",
    "an HTML page": b"\xef\xbb\xbf\n <!DOCTYPE html>",
    "an XML document": b"<?xml version='1.0'?>",
    "a file of zero bytes only": bytes(16),
    "a safetensors file with its length in big-endian order": (20).to_bytes(8, "big") + b"{",
    "a 7z archive": b"7z\xbc\xaf\x27\x1c",
    "a RAR archive": b"Rar!\x1a\x07\x00",
    "a gzip file": b"\x1f\x8b\x08",
    "a bzip2 file": b"BZh91AY",
    "an xz file": b"\xfd7zXZ\x00",
    "a Zstandard file": b"\x28\xb5\x2f\xfd",
    "a zip archive": b"PK\x03\x04",
    "a tar archive": bytes(range(1, 255)) + b"\1\1\1ustar",
    "an HDF5 file": b"\x89HDF\r\n\x1a\n",
    "a TensorFlow Lite model": b"\x1c\x00\x00\x00TFL3",
    "an ONNX model": b"\x08\x08\x12\x07pytorch",
    "a MATLAB file": b"MATLAB 5.0 MAT-file",
    "a Parquet file": b"PAR1",
    "an Arrow file": b"ARROW1",
    "an SQLite database": b"SQLite format 3\x00",
    "a PDF document": b"%PDF-1.7",
    "a picture": b"\x89PNG",
    "a program": b"\x7fELF",
    "a JSON or YAML text": b' {"a": 1}',
}


@pytest.mark.parametrize("kind", WRONG, ids=lambda kind: kind.name)
def test_each_kind_is_recognised_first_by_its_own_beginning(kind):
    first = next(other for other in WRONG if other.recognises(BEGIN[kind.name]))
    assert first is kind and kind.advice


@pytest.mark.parametrize(
    "first", [b"", b"\x80\x02}q", b"GGUF\3\0\0\0", (9).to_bytes(8, "little") + b"{"]
)
def test_a_checkpoint_is_none_of_them(first):
    assert not [kind.name for kind in WRONG if kind.recognises(first)]
    assert not is_big_endian(first)


def test_programs_that_fall_back_on_an_unpickling_error_meet_one(tmp_path):
    path = tmp_path / "page.pt"
    path.write_bytes(b"<!DOCTYPE html>")
    for kind in (RuntimeError, pickle.UnpicklingError):
        with pytest.raises(kind, match="HTML page"):
            taeda.load(path)
