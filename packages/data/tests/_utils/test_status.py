"""What a worker is doing, readable while it is stuck or dead."""

from __future__ import annotations

import os

import pytest
from loader_data import Numbers, Stream, together

from taeda.utils.data import DataLoader
from taeda.utils.data._utils.status import COLLATING, FETCHING, SENDING, Status, _new_file


def test_the_watchdog_shows_where_workers_are(capfd):
    loader = DataLoader(Numbers(4, at={2: "nap"}), num_workers=2, watchdog=0.2, collate_fn=together)
    assert len(list(loader)) == 4
    shown = capfd.readouterr().err
    assert "no batch has come for 0 s" in shown
    assert "at sample 2 of batch 2" in shown and "_nap" in shown and "between two batches" in shown
    assert shown.count("no batch has come") == 1


def test_streams_name_the_place_in_the_stream():
    class Broken(Stream):
        def __iter__(self):
            yield from range(3)
            raise ValueError("end of tape")

    with pytest.raises(ValueError, match="batch 3, sample 3 of the stream"):
        list(DataLoader(Broken(), num_workers=1))


def test_both_sides_read_the_same_page():
    mine = Status(_new_file())
    other = Status(os.dup(mine.fd))
    mine.begin(7)
    assert other.now == (7, FETCHING, -1)
    mine.at(3)
    mine.collating()
    assert other.now == (7, COLLATING, 3)
    mine.enter(SENDING)
    assert other.now[1] == SENDING
    for status in (mine, other):
        status.close()
    with pytest.raises(OSError):
        os.fstat(mine.fd)


def test_stacks_stand_behind_the_page_without_the_way_to_the_worker():
    status = Status(_new_file())
    assert status.stack() == "" and not status.answered(4096)
    text = (
        'File "a.py", line 1 in fetch\n  File "b.py", line 2 in run_worker\n  File "c.py", line 3 '
        "in _bootstrap\n"
    )
    os.pwrite(status.fd, text.encode(), 4096)
    assert status.stack().splitlines() == [
        'File "a.py", line 1 in fetch',
        '  File "b.py", line 2 in run_worker',
    ]
    assert status.answered(4096)
    assert status.stack(4096 + 5).startswith('"a.py"')
    status.close()


def test_a_file_that_is_no_page_is_closed():
    read, write = os.pipe()
    os.close(write)
    with pytest.raises((OSError, ValueError)):
        Status(read)
    with pytest.raises(OSError):
        os.fstat(read)
