"""What a worker is doing, readable while it is stuck or dead."""

from __future__ import annotations

import pytest
from loader_data import Numbers, Stream, together

from taeda.utils.data import DataLoader


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
