"""Files that people hand to `load` by mistake: how they begin, what they are, and what to do."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["WRONG", "Wrong", "is_big_endian"]


@dataclass(frozen=True)
class Wrong:
    """A kind of file that holds no checkpoint, or one that is not read here."""

    name: str
    recognises: Callable[[bytes], bool]
    advice: str


def _begins(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda first: first.startswith(marks)


def _markup(*marks: bytes) -> Callable[[bytes], bool]:
    return lambda first: first.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(marks)


def _holds(mark: bytes, place: int) -> Callable[[bytes], bool]:
    return lambda first: first[place : place + len(mark)] == mark


def _matches(pattern: bytes) -> Callable[[bytes], bool]:
    compiled = re.compile(pattern, re.DOTALL)
    return lambda first: compiled.match(first) is not None


def is_big_endian(first: bytes) -> bool:
    """Whether this begins as a safetensors file would on a machine that writes high bytes first."""
    return first[8:9] == b"{" and int.from_bytes(first[:8], "big") < 1 << 32


_UNPACK = "unpack it and load the file inside"
_EXPORTED = "it holds a graph of operations; save the weights from the program that made it"

WRONG = [
    Wrong(
        "a Git LFS pointer",
        _begins(b"version https://git-lfs"),
        "it only names the data; fetch the data with `git lfs pull`",
    ),
    Wrong(
        "an HTML page",
        _markup(b"<!doctype html", b"<html", b"<head", b"<body"),
        "the download gave a web page (often a login or an error); open the file as text, correct the "
        "address and download again",
    ),
    Wrong(
        "an XML document",
        _markup(b"<?xml", b"<error"),
        "storage services answer so when access is refused or the object is missing; open it as text",
    ),
    Wrong(
        "a file of zero bytes only",
        lambda first: len(first) > 8 and not any(first),
        "its writing was cut by a crash or a power failure, or a download only reserved the space; "
        "take an older checkpoint or download again",
    ),
    Wrong(
        "a safetensors file with its length in big-endian order",
        is_big_endian,
        "the format is little-endian; write it again with a tool that follows the format",
    ),
    Wrong("a 7z archive", _begins(b"7z\xbc\xaf\x27\x1c"), _UNPACK),
    Wrong("a RAR archive", _begins(b"Rar!\x1a\x07"), _UNPACK),
    Wrong("a gzip file", _begins(b"\x1f\x8b"), f"{_UNPACK} (`gunzip`, or `tar xzf` for .tar.gz)"),
    Wrong("a bzip2 file", _matches(rb"BZh[1-9]"), f"{_UNPACK} (`bunzip2`)"),
    Wrong("an xz file", _begins(b"\xfd7zXZ\x00"), f"{_UNPACK} (`unxz`)"),
    Wrong("a Zstandard file", _begins(b"\x28\xb5\x2f\xfd"), f"{_UNPACK} (`unzstd`)"),
    Wrong("a zip archive", _begins(b"PK\x03\x04", b"PK\x05\x06"), f"if it was packed, {_UNPACK}"),
    Wrong("a tar archive", _holds(b"ustar", 257), f"{_UNPACK} (`tar xf`)"),
    Wrong(
        "an HDF5 file",
        _begins(b"\x89HDF\r\n\x1a\n"),
        "Keras and many tools write it; read it with h5py and hand the arrays over as numpy arrays",
    ),
    Wrong(
        "a TensorFlow Lite model",
        _holds(b"TFL3", 4),
        _EXPORTED,
    ),
    Wrong(
        "an ONNX model",
        _matches(rb"\x08[\x01-\x20](\x12|\x3a|\x1a|\x22)[^{]"),
        f"{_EXPORTED}, or read its initializers with the onnx package",
    ),
    Wrong("a MATLAB file", _begins(b"MATLAB 5.0"), "read it with scipy.io.loadmat"),
    Wrong("a Parquet file", _begins(b"PAR1"), "it is a table; read it with pyarrow or pandas"),
    Wrong("an Arrow file", _begins(b"ARROW1"), "it is a table; read it with pyarrow"),
    Wrong("an SQLite database", _begins(b"SQLite format 3"), "read it with the sqlite3 module"),
    Wrong("a PDF document", _begins(b"%PDF-"), "check the path"),
    Wrong(
        "a picture",
        _begins(b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"BM"),
        "read it with an image library",
    ),
    Wrong("a program", _begins(b"\x7fELF", b"MZ", b"#!"), "check the path"),
    Wrong(
        "a JSON or YAML text",
        _markup(b"{", b"[", b"---"),
        "if it is the index of a checkpoint in several files, load the files that it names",
    ),
]
