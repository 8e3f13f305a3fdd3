"""The line that says how far an epoch is."""

from __future__ import annotations

import sys

import pytest

from taeda.utils.data import DataLoader, IterableDataset
from taeda.utils.data._utils import progress


class Endless(IterableDataset):
    def __iter__(self):
        return iter(range(4))


@pytest.mark.parametrize("workers", [0, 2])
def test_without_tqdm_a_line(workers, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(progress, "_EVERY", 1e9)  # only the last state, however slow the machine is
    assert len(list(DataLoader(range(5), 2, num_workers=workers, progress="first epoch"))) == 3
    assert capsys.readouterr().err.startswith("first epoch: 3/3 batches, ")
    list(DataLoader(Endless(), progress=True))
    assert capsys.readouterr().err.startswith("batches: 4 batches, ")


def test_states_on_the_way(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(progress, "_EVERY", 0)
    list(DataLoader(range(3), progress="an epoch"))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(" batches")[0] for line in lines] == [
        "an epoch: 1/3", "an epoch: 2/3", "an epoch: 3/3", "an epoch: 3/3"
    ]  # fmt: skip
    assert lines[0].endswith(" s left")
    assert lines[-1].endswith("/s")


def test_with_tqdm_its_bar(capsys, monkeypatch):
    seen = []

    class Bar:
        def __init__(self, **options):
            seen.append(options)

        def update(self):
            seen.append("update")

        def close(self):
            seen.append("close")

    monkeypatch.setitem(sys.modules, "tqdm.auto", type("tqdm_auto", (), {"tqdm": Bar}))
    loader = DataLoader(range(3), progress=True)
    next(iter(loader))
    assert len(list(loader)) == 3
    assert seen[-5:] == [
        {"total": 3, "initial": 0, "desc": "batches", "unit": "batch"},
        *["update"] * 3,
        "close",
    ]
    assert capsys.readouterr().err == ""
