"""A program that was started, its number and its logs."""

from __future__ import annotations

import signal
import sys

from taeda.distributed.elastic.multiprocessing.subprocess_handler import SubprocessHandler


def test_output_goes_to_files(tmp_path):
    out, err = tmp_path / "out", tmp_path / "err"
    code = "import os, sys; print(os.environ['WORD'], sys.argv[1]); print('bad', file=sys.stderr)"
    handler = SubprocessHandler(
        sys.executable, ("-S", "-c", code, 7), {"WORD": "hello"}, str(out), str(err), 3
    )
    assert handler.proc.wait(30) == 0 and handler.local_rank_id == 3
    handler.close()
    assert out.read_text() == "hello 7\n" and err.read_text() == "bad\n"


def test_closing_ends_what_runs(tmp_path):
    words = ("-S", "-c", "import time; time.sleep(60)")
    for given, wanted in ((None, signal.SIGTERM), (signal.SIGKILL, signal.SIGKILL)):
        handler = SubprocessHandler(sys.executable, words, {}, str(tmp_path / "o"), "", 0)
        handler.close(given)
        assert handler.proc.wait(30) == -wanted
        assert all(file.closed for file in handler._files)
