"""The folder: damage is refused, a part of an entry is read alone, overwrite."""

from __future__ import annotations

import json
import os
import re

import pytest

import taeda
import taeda.distributed.checkpoint as dcp
from taeda._core_api.files import crc32c
from taeda.distributed.checkpoint import _files, _places

DTYPES = (
    "bool uint8 int8 int16 uint16 int32 uint32 int64 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128 float8_e4m3fn"
)


def test_every_dtype_and_odd_shapes(tmp_path):
    saved = {name: taeda.arange(6).to(getattr(taeda, name)).view(2, 3) for name in DTYPES.split()}
    saved |= {
        "empty": taeda.empty(0, 3),
        "number": taeda.tensor(4.5),
        "turned": taeda.ones(2, 3).t(),
    }
    saved |= {"conj": taeda.tensor([1 + 2j, 3j]).conj(), "p": taeda.nn.Parameter(taeda.ones(2))}
    dcp.save(saved, checkpoint_id=tmp_path)
    made = {name: taeda.zeros_like(value) for name, value in saved.items()}
    made["bool"] = taeda.zeros(3, 2, dtype=taeda.bool).t()  # one that is not contiguous
    dcp.load(made, checkpoint_id=tmp_path)
    for name, value in saved.items():
        assert made[name].tolist() == value.tolist(), name


def test_any_other_byte_anywhere_is_refused(tmp_path):
    dcp.save({"x": taeda.arange(9.0), "o": [1, "text"]}, checkpoint_id=tmp_path)
    for path in sorted(tmp_path.iterdir()):
        data = path.read_bytes()
        begin = 8 + int.from_bytes(data[:8], "little") if path.suffix == ".safetensors" else 0
        for place in range(begin, len(data), 3):
            path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
            check_refused(tmp_path)
        for length in (0, begin, len(data) // 2, len(data) - 1):
            path.write_bytes(data[:length])
            check_refused(tmp_path)
        path.unlink()
        check_refused(tmp_path)
        path.write_bytes(data)
    dcp.load({"x": taeda.zeros(9)}, checkpoint_id=tmp_path)


def check_refused(folder):
    with pytest.raises(dcp.CheckpointException) as caught:
        dcp.load({"x": taeda.zeros(9), "o": None}, checkpoint_id=folder)
    assert isinstance(
        caught.value.failures[0][0], (taeda.serialization.FormatError, FileNotFoundError)
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["storage"][0].__setitem__(2, "../1-0.safetensors"),
        lambda told: told["storage"][0].__setitem__(3, -1),
        lambda told: told["storage"][0].__setitem__(3, 1 << 61),
        lambda told: told["storage"][0].__setitem__(3, 1 << 70),
        lambda told: told["storage"][0].__setitem__(4, 1 << 40),
        lambda told: told["storage"][1].__setitem__(slice(4, None), [1 << 38, [0] * (1 << 18)]),
        lambda told: told["entries"]["x"].__setitem__("size", [10]),
        lambda told: told["entries"]["x"].__setitem__("dtype", "ops"),
        lambda told: told["entries"]["x"].__setitem__("boxes", [[[-1], [9]]]),
        lambda told: told.__setitem__("storage", []),
        lambda told: told.__setitem__("paths", {"x": 4}),
        lambda told: told.__setitem__("entries", []),
        lambda told: told.__setitem__("version", 2),
    ],
)
def test_an_index_that_makes_no_sense_is_refused(tmp_path, change):
    """The checksum fits here: somebody wrote it on purpose."""
    dcp.save({"x": taeda.arange(9.0), "o": [1]}, checkpoint_id=tmp_path)
    path = tmp_path / "index.json"
    told = json.loads(path.read_bytes())
    change(told)
    told["crc32c"] = "00000000"
    data = json.dumps(told, separators=(",", ":")).encode()
    zeros = b'"crc32c":"00000000"'
    path.write_bytes(data.replace(zeros, b'"crc32c":"%08x"' % _files.crc32c(data, 0)))
    with pytest.raises(dcp.CheckpointException) as caught:
        dcp.load({"x": taeda.zeros(9), "o": None}, checkpoint_id=tmp_path)
    assert isinstance(caught.value.failures[0][0], taeda.serialization.FormatError)


@pytest.mark.parametrize("block", [64, 2048])  # a row of the entry, of 336 bytes, is long and short
@pytest.mark.parametrize("begin", [(0, 0, 0), (3, 1, 2), (7, 0, 0)])
def test_a_box_reads_the_blocks_that_it_touches(tmp_path, monkeypatch, begin, block):
    monkeypatch.setattr(_files, "BLOCK", block)
    monkeypatch.setattr(_files, "_AT_ONCE", 336)
    whole = taeda.arange(10 * 6 * 7).view(10, 6, 7)
    piece = _files.Piece("x", taeda.int64, whole.shape, lambda: whole)
    (stored,) = _files.write_pieces(tmp_path / "1-0.safetensors", [piece], "off")
    count = [0]

    def counting(*args):
        data = real(*args)
        count[0] += len(data)
        return data

    real = os.pread
    monkeypatch.setattr(_places.os, "pread", counting)
    sizes = (2, 5, 4)
    for target in (taeda.zeros(sizes).long(), taeda.zeros(sizes[::-1]).long().permute(2, 1, 0)):
        count[0] = 0
        _files.read_box(tmp_path, stored, "x", whole.shape, begin, target)
        a, b, c = begin
        assert (target == whole[a : a + 2, b : b + 5, c : c + 4]).all()
        rows = sizes[0] * sizes[1]
        assert count[0] <= (rows * (sizes[2] * 8 + 2 * 64) if block == 64 else 2 * 336 + 2 * 2048)


def test_overwrite_false_refuses_a_checkpoint(tmp_path):
    writer = dcp.FileSystemWriter(tmp_path, overwrite=False)
    dcp.save({"x": 1}, storage_writer=writer)
    with pytest.raises(dcp.CheckpointException, match="overwrite is False"):
        dcp.save({"x": 2}, storage_writer=writer)
    made = {"x": 0}
    dcp.load(made, storage_reader=dcp.FileSystemReader(tmp_path))
    assert made == {"x": 1}


def test_other_tools_read_the_file_of_a_rank(tmp_path):
    dcp.save({"x": taeda.ones(2), "x'": taeda.zeros(1)}, checkpoint_id=tmp_path)
    (path,) = tmp_path.glob("*.safetensors")
    assert taeda.load(path)["x"].tolist() == [1, 1]


@pytest.mark.parametrize("fits", [True, False], ids=["same checksum", "another checksum"])
def test_an_index_of_a_newer_version_says_what_to_load_it_with(tmp_path, fits):
    dcp.save({"x": taeda.arange(9.0)}, checkpoint_id=tmp_path)
    path = tmp_path / "index.json"
    data = re.sub(rb'"version":\d+', b'"version":2', path.read_bytes(), count=1)
    data = re.sub(rb'"crc32c":"\w{8}"', b'"crc32c":"00000000"', data, count=1)
    total = crc32c(data, 0) if fits else 7
    path.write_bytes(data.replace(b'"crc32c":"00000000"', b'"crc32c":"%08x"' % total, 1))
    with pytest.raises(
        RuntimeError, match=r"has version 2, and this release reads 1: load it with"
    ) as told:
        dcp.load({"x": taeda.zeros(9)}, checkpoint_id=tmp_path)
    assert ("checksum does not fit" in str(told.value)) is not fits
