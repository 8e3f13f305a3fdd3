"""The ends of older files: another object may follow in an open file, and nothing in a path."""

from __future__ import annotations

import io
import pickle
import struct

import pytest

import taeda
from taeda._io.safetensors import FormatError

NUMBERS = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]

STORAGE = b"ctorch\nFloatStorage\n"


def text(value):
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def number(value):
    return b"J" + struct.pack("<i", value)


def stream(object_words, keys=("0",), counts=(6,), behind=b""):
    head = pickle.dumps(0x1950A86A20F9469CFC6C, 2) + pickle.dumps(1001, 2) + pickle.dumps({}, 2)
    data = b"".join(struct.pack("<q6f", count, *NUMBERS) for count in counts)
    return head + b"\x80\x02" + object_words + b"." + pickle.dumps(list(keys), 2) + data + behind


def tensor(view=b"N", count=6, size=2):
    identity = (
        b"(" + text("storage") + STORAGE + text("0") + text("cpu") + number(count) + view + b"tQ"
    )
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n("
        + identity
        + b"K\x00"
        + number(size)
        + b"\x85K\x01\x85\x89NtR"
    )


def test_one_object_after_another_in_an_open_file():
    file = io.BytesIO(stream(tensor()) + stream(tensor(size=5)))
    assert taeda.load(file).tolist() == [0, 1]
    assert taeda.load(file).tolist() == [0, 1, 2, 3, 4]


def test_bytes_behind_the_last_storage(tmp_path):
    path = tmp_path / "file.pt"
    path.write_bytes(stream(tensor(), behind=b"x"))
    with pytest.raises(FormatError, match="1 bytes follow the last storage"):
        taeda.load(path)
