"""Lists and dicts in shared memory: like the ordinary ones, and the same bytes in every process."""

from __future__ import annotations

import gc
import multiprocessing.context
import os
import pickle
import subprocess
import sys
from multiprocessing.reduction import ForkingPickler

import pytest

import taeda
import taeda.multiprocessing as mp
from taeda.utils.data import DataLoader, SharedDict, SharedList
from taeda.utils.data.shared import stable_hash

ITEMS = [{"id": 1, "tags": ["a", "b"]}, None, "text", 2.5, (1, 2), b"", {"x": {"y": [1] * 1000}}]


def test_it_reads_like_the_list_it_was_made_of():
    shared = SharedList(ITEMS)
    assert list(shared) == ITEMS
    assert len(shared) == len(ITEMS)
    assert [shared[i] for i in range(-7, 7)] == ITEMS + ITEMS
    assert shared[1:6:2] == ITEMS[1:6:2]
    assert shared[::-1] == ITEMS[::-1]
    assert shared == ITEMS
    assert shared == SharedList(ITEMS)
    assert shared != ITEMS[:-1]
    assert "text" in shared
    assert shared.index(2.5) == 3
    assert shared.__getitems__([3, 0]) == [ITEMS[3], ITEMS[0]]


@pytest.mark.parametrize("index", [7, -8, 10**30])
def test_past_the_end(index):
    with pytest.raises(IndexError, match="out of range for a list of 7 items"):
        SharedList(ITEMS)[index]


def test_an_index_is_a_whole_number():
    with pytest.raises(TypeError):
        SharedList(ITEMS)["text"]
    assert SharedList(ITEMS)[taeda.tensor(2)] == "text"


def test_empty():
    shared = SharedList()
    assert list(shared) == []
    assert list(pickle.loads(pickle.dumps(shared))) == []
    with pytest.raises(IndexError):
        shared[0]


def test_items_come_from_any_iterable_and_are_fresh_each_time():
    shared = SharedList([i] for i in range(3))
    shared[0].append(5)
    assert shared[0] == [0]


def test_tensors_inside():
    shared = SharedList([{"x": taeda.arange(3)}])
    assert shared[0]["x"].tolist() == [0, 1, 2]


def test_records_larger_than_a_piece():
    items = ["a" * n for n in (3 << 20, 1, 2 << 20)]
    assert list(SharedList(items)) == items


def test_what_cannot_be_pickled_is_refused_and_nothing_leaks():
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises((AttributeError, TypeError, pickle.PicklingError)):
        SharedList([lambda: None])
    assert len(os.listdir("/proc/self/fd")) == before


def test_another_process_gets_a_handle():
    shared = SharedList(["x" * 1000] * 1000)
    assert len(ForkingPickler.dumps(shared)) < 5000
    queue = mp.SimpleQueue()
    queue.put(shared)
    copy = queue.get()
    assert copy._bytes.is_set_to(shared._bytes)
    assert copy == shared


def test_pickled_for_a_file_it_brings_its_items():
    assert list(pickle.loads(pickle.dumps(SharedList(ITEMS)))) == ITEMS


def test_it_is_a_data_set():
    loader = DataLoader(SharedList([{"x": float(i)} for i in range(5)]), batch_size=2)
    assert [batch["x"].tolist() for batch in loader] == [[0, 1], [2, 3], [4]]


# ---- dicts ----

KEYS = ["a", "b" * 100, b"a", 1, -(2**70), 2.5, None, ("a", 1), (), "ü\udcff", (("x",), b"y")]


def test_a_dict_reads_like_the_one_it_was_made_of():
    plain = {key: [i] for i, key in enumerate(KEYS)}
    shared = SharedDict(plain)
    assert dict(shared) == plain
    assert list(shared) == KEYS
    assert shared == plain
    assert shared[True] == shared[1.0] == plain[1]
    assert shared.get("absent", 5) == 5
    assert "absent" not in shared
    assert [1] not in shared
    with pytest.raises(KeyError, match="absent"):
        shared["absent"]


def test_a_dict_of_pairs_keeps_the_last():
    assert dict(SharedDict([("a", 1), ("b", 2), ("a", 3)])) == {"a": 3, "b": 2}


def test_many_keys():
    shared = SharedDict((f"key {i}", i) for i in range(2000))
    assert all(shared[f"key {i}"] == i for i in range(0, 2000, 37))


def test_a_key_without_a_lasting_hash_is_refused():
    with pytest.raises(TypeError, match="frozenset has no hash that is the same in every process"):
        SharedDict({frozenset(): 1})


def test_equal_hashes_are_told_apart(monkeypatch):
    monkeypatch.setattr("taeda.utils.data.shared.stable_hash", lambda key: 7)
    shared = SharedDict({"a": 1, "b": 2})
    assert (shared["a"], shared["b"]) == (1, 2)
    with pytest.raises(KeyError):
        shared["c"]


def test_hashes_do_not_depend_on_the_process():
    code = (
        "from taeda.utils.data.shared import stable_hash; print(stable_hash(('a', 1, b'c', None)))"
    )
    env = {**os.environ, "PYTHONHASHSEED": "77"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env, timeout=60
    )
    assert int(done.stdout) == stable_hash(("a", 1, b"c", None))


def test_a_dict_in_another_process():
    shared = SharedDict({"a": 1})
    queue = multiprocessing.get_context("fork").SimpleQueue()
    queue.put(shared)
    assert queue.get() == {"a": 1}
