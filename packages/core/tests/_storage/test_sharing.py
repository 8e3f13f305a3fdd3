"""Shared storages: who sees a write, what moves along, what stays, and what a system without room answers."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys

import numpy as np
import pytest
from forks import descriptors, forked

import taeda
from taeda import UntypedStorage
from taeda._storage import sharing as _sharing

DTYPES = [
    *(taeda.bool, taeda.uint8, taeda.int8, taeda.int16, taeda.int32, taeda.int64, taeda.float16,
        taeda.bfloat16),
    *(taeda.float32, taeda.float64, taeda.complex64, taeda.complex128, taeda.float8_e5m2),
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_values_survive_the_move(dtype):
    x = taeda.tensor([0, 1, 1, 0, 1]).to(dtype)
    before = x.clone()
    assert x.share_memory_() is x
    assert x.is_shared()
    assert not before.is_shared()
    assert x.tolist() == before.tolist()


def test_a_child_writes_into_it():
    x = taeda.zeros(4).share_memory_()

    def write():
        x[2] = 7

    assert forked(write) == 0
    assert x.tolist() == [0, 0, 7, 0]


def test_private_memory_stays_private():
    x = taeda.zeros(4)
    assert not x.is_shared()
    assert forked(lambda: x.fill_(1)) == 0
    assert x.tolist() == [0, 0, 0, 0]


def test_views_move_along():
    x = taeda.arange(12.0).reshape(3, 4)
    row, turned, part = x[1], x.t(), x[:, ::2]
    row.share_memory_()
    assert all(view.is_shared() for view in (x, turned, part))
    x[1, 0] = 50
    assert row[0] == 50
    assert turned[0, 1] == 50
    assert part[1, 0] == 50


def test_sharing_twice_changes_nothing():
    x = taeda.ones(3).share_memory_()
    place = x.data_ptr()
    assert x.share_memory_().data_ptr() == place


def test_grad_stays_private_and_the_tensor_a_leaf():
    x = taeda.ones(3, requires_grad=True)
    x.sum().backward()
    x.share_memory_()
    assert x.is_leaf
    assert x.requires_grad
    assert not x.grad.is_shared()


def test_empty_and_meta():
    assert taeda.empty(0).share_memory_().is_shared()
    meta = taeda.empty(3, device="meta").share_memory_()
    assert meta.device.type == "meta"


def test_a_shared_storage_does_not_change_size():
    x = taeda.zeros(3).share_memory_()
    with pytest.raises(RuntimeError, match="cannot be resized"):
        x.resize_(100)
    assert x.shape == (3,)


def test_memory_whose_address_numpy_holds_outlives_the_move():
    x = taeda.ones(1 << 20)
    array = x.numpy()
    x.share_memory_()
    array[0] = 5
    assert x[0] == 1
    del x
    array[-1] = 5
    assert array.sum() == (1 << 20) + 8


def test_a_tensor_on_numpy_memory_moves_away_from_it():
    array = np.arange(5)
    x = taeda.from_numpy(array)
    twin = x.numpy()
    x.share_memory_()
    del array
    assert x.tolist() == twin.tolist() == [0, 1, 2, 3, 4]


def test_descriptors_are_given_back():
    before = descriptors()
    for _ in range(50):
        taeda.zeros(1000).share_memory_()
        UntypedStorage._new_shared(100)
    assert descriptors() == before


def test_new_shared_is_zero_and_shared():
    storage = UntypedStorage._new_shared(10)
    assert storage.is_shared()
    assert storage.tolist() == [0] * 10


def test_storage_methods():
    x = taeda.zeros(4)
    storage = x.untyped_storage()
    assert not storage.is_shared()
    assert storage.share_memory_() is storage
    assert x.is_shared()
    assert storage.filename is None


# ---- files ----


def test_from_file_shared_writes_reach_the_file(tmp_path):
    path = tmp_path / "bytes"
    storage = UntypedStorage.from_file(path, shared=True, nbytes=8)
    storage[3] = 7
    assert storage.is_shared()
    assert storage.filename == str(path)
    assert path.read_bytes() == bytes([0, 0, 0, 7, 0, 0, 0, 0])
    del storage
    assert path.stat().st_size == 8


def test_from_file_private_writes_do_not(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(8)))
    storage = UntypedStorage.from_file(str(path), False, 4)
    storage[0] = 99
    assert not storage.is_shared()
    assert storage.tolist() == [99, 1, 2, 3]
    assert path.read_bytes() == bytes(range(8))
    storage.share_memory_()
    assert storage.tolist() == [99, 1, 2, 3]


def test_from_file_lengthens_but_keeps(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(b"ab")
    assert UntypedStorage.from_file(path, True, 5).tolist() == [97, 98, 0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("absent", False, 4), "unable to open file .*absent.* in read-only mode: No such file"),
        (("no/folder", True, 4), "unable to open file .* in read-write mode"),
        (("short", False, 4), "cannot map 4 bytes of .*short.*: it has 2"),
        (("short", True, -1), "must not be negative"),
    ],
)
def test_from_file_refuses(tmp_path, arguments, message):
    (tmp_path / "short").write_bytes(b"ab")
    before = descriptors()
    with pytest.raises(RuntimeError, match=message):
        UntypedStorage.from_file(tmp_path / arguments[0], *arguments[1:])
    assert descriptors() == before


# ---- a system without room ----


def test_more_than_there_is_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(_sharing, "_free_in_system", lambda: 100 << 20)
    with pytest.raises(
        RuntimeError, match="cannot get 209715200 bytes of shared memory: 104857600 bytes"
    ):
        UntypedStorage._new_shared(200 << 20)


def test_out_of_descriptors_says_what_to_do():
    program = """
import resource, taeda
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
kept = []
try:
    while True: kept.append(taeda.ones(3).share_memory_())
except RuntimeError as error:
    assert "ulimit -n" in str(error), error
    x = taeda.ones(3)
del kept[0]
assert x.share_memory_().tolist() == [1, 1, 1]
print("said")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "said\n", done.stderr


def test_a_full_file_system_is_an_error_and_no_signal(tmp_path):
    """The limit of file sizes stands for a full disk: the system refuses in the same place."""

    def child():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        x = taeda.ones(1 << 20)
        with pytest.raises(RuntimeError, match="cannot write 4194304 bytes"):
            x.share_memory_()
        assert not x.is_shared()
        assert x.sum() == 1 << 20
        with pytest.raises(RuntimeError, match="shared memory"):
            UntypedStorage._new_shared(2 << 20)

    assert forked(child) == 0
