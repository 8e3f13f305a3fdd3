"""A checkpoint is written whole: to paths, pipes and streams, with checksums or without, or not at all."""

from __future__ import annotations

import io
import os
import threading

import pytest

import taeda
from taeda import serialization
from taeda._io import disk
from taeda.serialization import load, save


def stored(value):
    file = io.BytesIO()
    save(value, file)
    return file.getvalue()


def loaded(data, **options):
    return load(io.BytesIO(data), **options)


def test_a_slice_takes_only_its_part_of_the_file():
    assert len(stored(taeda.zeros(1_000_000)[:10])) < 2000


def test_streams_without_seek_and_without_readinto():
    class Stream:
        def __init__(self, data):
            self.data = io.BytesIO(data)

        def read(self, size=-1):
            return self.data.read(min(size, 7) if size > 0 else size)

    made = load(Stream(stored({"a": taeda.arange(5)})))
    assert made["a"].tolist() == [0, 1, 2, 3, 4]


def test_through_a_named_pipe(tmp_path):
    path, value = tmp_path / "pipe", {"a": taeda.arange(100_000)}
    os.mkfifo(path)
    writer = threading.Thread(target=save, args=(value, path))
    writer.start()
    made = load(path)
    writer.join()
    assert taeda.equal(made["a"], value["a"])


def test_a_failed_save_keeps_the_old_file(tmp_path):
    path = tmp_path / "file"
    save(1, path)
    with pytest.raises(TypeError):
        save(object(), path)
    assert load(path) == 1
    assert os.listdir(tmp_path) == ["file"]


def test_checksums_can_be_left_out():
    serialization.set_crc32_options(False)
    try:
        assert serialization.get_crc32_options() is False
        data = bytearray(stored(taeda.zeros(2)))
    finally:
        serialization.set_crc32_options(True)
    data[-1] ^= 1
    assert loaded(bytes(data)).tolist() != [0.0, 0.0]


def test_data_can_be_left_out(tmp_path):
    value, paths = {"a": taeda.ones(300_000), "b": [1, taeda.ones(2)]}, ("whole", "room", "stream")
    whole, room, stream = (tmp_path / name for name in paths)
    save(value, whole)
    with serialization.skip_data():
        save(value, room)
        with open(stream, "wb") as file:
            save(value, file)
        assert load(whole)["a"].sum().item() == 0
    assert load(whole)["a"].sum().item() == 300_000
    for path in (room, stream):
        assert path.stat().st_size == whole.stat().st_size
        assert load(path)["a"].sum().item() == 0
        assert load(path)["b"][0] == 1
    assert room.stat().st_blocks * 512 < 100_000


def test_a_tensor_that_changes_while_it_is_saved_gives_a_whole_file(tmp_path):
    value = {"large": taeda.zeros(600_000), "small": taeda.zeros(10)}

    class Busy(disk.Disk):
        def write(self, descriptor, data):
            value["large"].add_(1)
            value["small"].add_(1)
            return super().write(descriptor, data)

    with disk.replaced(Busy()):
        save(value, tmp_path / "file")
    made = load(tmp_path / "file")
    assert value["large"][0].item() > 0
    assert made["large"].shape == (600_000,)
