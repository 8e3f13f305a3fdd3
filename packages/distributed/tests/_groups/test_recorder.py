"""The flight recorder: what it keeps, and when it writes."""

from __future__ import annotations

import json
import os
import signal
import threading
from pathlib import Path

from taeda.distributed import trace
from taeda.distributed._calls import Call
from taeda.distributed._groups import recorder


def test_a_dump_is_read_by_trace(tmp_path, monkeypatch):
    monkeypatch.setenv("TAEDA_TRACE_DIR", str(tmp_path / "new"))
    monkeypatch.setattr(recorder, "calls", type(recorder.calls)(maxlen=2))
    for number in range(3):
        call = Call("barrier", f"barrier({number})")
        call.group, call.seq = "0", number + 1
        recorder.calls.append(call)
    path = recorder.dump(3, "a test")
    facts = json.loads(Path(path).read_text())
    assert (facts["rank"], facts["pid"], facts["reason"]) == (3, os.getpid(), "a test")
    assert [call["signature"] for call in facts["calls"]] == ["barrier(1)", "barrier(2)"]
    assert set(trace.load(tmp_path / "new")) == {3}


def test_without_the_variable_nothing_is_written(monkeypatch):
    monkeypatch.delenv("TAEDA_TRACE_DIR", raising=False)
    monkeypatch.delenv("TORCH_TRACE_DIR", raising=False)
    before = signal.getsignal(signal.SIGUSR2)
    assert recorder.dump(0, "x") == ""
    recorder.install_signal(0)
    assert signal.getsignal(signal.SIGUSR2) is before


def test_a_signal_dumps_and_another_handler_stays(tmp_path, monkeypatch):
    monkeypatch.setenv("TAEDA_TRACE_DIR", str(tmp_path))
    before = signal.signal(signal.SIGUSR2, signal.SIG_DFL)
    try:
        recorder.install_signal(5)
        os.kill(os.getpid(), signal.SIGUSR2)
        assert json.loads((tmp_path / "rank5.json").read_text())["reason"] == "signal"
        mine = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
        recorder.install_signal(6)
        assert signal.getsignal(signal.SIGUSR2) is signal.SIG_IGN and mine is not None
        signal.signal(signal.SIGUSR2, signal.SIG_DFL)
        thread = threading.Thread(target=recorder.install_signal, args=(7,))
        thread.start()
        thread.join()
        assert signal.getsignal(signal.SIGUSR2) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGUSR2, before)
