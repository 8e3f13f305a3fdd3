"""The older name of taedarun."""

from __future__ import annotations

import sys

import pytest

from taeda.distributed import launch


@pytest.mark.parametrize(
    ("words", "given"),
    [
        (["a.py"], ["a.py", "--local-rank=${local_rank}"]),
        (["--nnodes", "1", "a.py", "--lr", "2"],
            ["--nnodes", "1", "a.py", "--local-rank=${local_rank}", "--lr", "2"]),
        (["--use-env", "a.py", "x"], ["a.py", "x"]),
        (["--use_env", "a.py"], ["a.py"]),
    ],
)  # fmt: skip
def test_programs_get_their_number_as_first_argument(words, given, monkeypatch):
    told = []
    monkeypatch.setattr(launch.run, "main", told.append)
    with pytest.warns(FutureWarning, match="use taedarun"):
        launch.main(words)
    monkeypatch.setattr(sys, "argv", ["launch", *words])
    with pytest.warns(FutureWarning, match="LOCAL_RANK"):
        launch.main()
    assert told == [given, given]
