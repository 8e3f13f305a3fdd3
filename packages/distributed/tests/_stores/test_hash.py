"""A store inside one process."""

from __future__ import annotations

import pytest

import taeda.distributed as dist


@pytest.mark.parametrize("kind", ["hash", "tcp", "prefix"])
def test_queues(kind):
    made = {"hash": dist.HashStore, "tcp": lambda: dist.TCPStore("127.0.0.1", 0, is_master=True),
            "prefix": lambda: dist.PrefixStore("p", dist.HashStore())}[kind]()  # fmt: skip
    made.queue_push("q", "1")
    made.queue_push("q", "2")
    assert made.queue_len("q") == 2 and made.check(["q"])
    assert [made.queue_pop("q"), made.queue_pop("q")] == [b"1", b"2"]
    with pytest.raises(dist.QueueEmptyError):
        made.queue_pop("q", block=False)
    assert made.queue_len("q") == 0


def test_it_never_pickles():
    with pytest.raises(TypeError):
        dist.HashStore().set("k", object())
