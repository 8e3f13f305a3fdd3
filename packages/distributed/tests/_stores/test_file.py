"""A store in a file: shared, deleted by the last, and not harmed by half a record."""

from __future__ import annotations

import os

import pytest

import taeda.distributed as dist


def test_a_file_is_shared_and_deleted_by_the_last(tmp_path):
    path = str(tmp_path / "store")
    one, two = dist.FileStore(path, 2), dist.FileStore(path, 2)
    one.set("k", "v")
    assert two.get("k") == b"v" and two.path == path
    one.close()
    assert os.path.exists(path)
    two.close()
    assert not os.path.exists(path)


def test_a_record_that_was_cut_off_does_no_harm(tmp_path):
    path = str(tmp_path / "store")
    one = dist.FileStore(path)
    one.set("k", "v")
    with open(path, "ab") as file:
        file.write(b"\x05\x00\x00\x00\xff\x00")  # a writer that was killed
    one.set("k2", "w")
    assert dist.FileStore(path).multi_get(["k", "k2"]) == [b"v", b"w"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(dist.DistStoreError, match="no folder"):
        dist.FileStore(str(tmp_path / "no" / "store"))
