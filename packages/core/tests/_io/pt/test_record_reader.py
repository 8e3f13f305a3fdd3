"""The records of a file in torch's zip form."""

from __future__ import annotations

import io

import pytest

import taeda
from taeda import PyTorchFileReader


@pytest.fixture
def file():
    made = io.BytesIO()
    taeda.save({"x": taeda.arange(4.0)}, made, format="pt")
    made.seek(0)
    return made


def test_records_stand_without_their_folder(file, tmp_path):
    path = tmp_path / "x.pt"
    path.write_bytes(file.getvalue())
    for given in (file, str(path)):
        reader = PyTorchFileReader(given)
        assert {"data.pkl", "data/0", "version"} <= set(reader.get_all_records())
        assert reader.has_record("data/0") and not reader.has_record("data/1")
        assert reader.version() == 3
        assert reader.get_storage_from_record("data/0", 3, taeda.float32).tolist() == [0, 1, 2]
        reader._zip.close()


def test_refusals(file):
    reader = PyTorchFileReader(file)
    with pytest.raises(RuntimeError, match="no record 'data/7'"):
        reader.get_record("data/7")
    with pytest.raises(RuntimeError, match=r"has 16 bytes, 5 elements of taeda\.float32 need more"):
        reader.get_storage_from_record("data/0", 5, taeda.float32)
    empty = reader.get_storage_from_record("data/0", 0, taeda.int16)
    assert empty.dtype is taeda.int16 and empty.numel() == 0
    with pytest.raises(RuntimeError, match="is no zip archive"):
        PyTorchFileReader(io.BytesIO(b"noise"))
