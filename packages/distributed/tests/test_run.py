"""The flags of taedarun, and what they make."""

from __future__ import annotations

import os
import sys

import pytest

from taeda.distributed import run
from taeda.distributed.elastic.multiprocessing.errors import ProcessFailure


def options(*words):
    return run.parse_args([*words, "train.py", "--lr", "1"])


def test_flags_have_two_spellings_and_a_variable(monkeypatch):
    assert options("--nproc_per_node", "4").nproc_per_node == "4"
    assert options("--nproc-per-node", "4").training_script_args == ["--lr", "1"]
    monkeypatch.setenv("PET_NNODES", "3")
    monkeypatch.setenv("PET_STANDALONE", "1")
    assert options().nnodes == "3" and options().standalone is True
    assert options("--nnodes", "2").nnodes == "2"


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: run._nodes("x"), "--nnodes is N or MIN:MAX, not 'x'"),
        (lambda: run._nodes("1:y"), "--nnodes is N or MIN:MAX"),
        (lambda: run._processes("gpu"), "no GPUs in this release"),
        (lambda: run._processes("few"), "a number, cpu or auto, not 'few'"),
        (lambda: run._processes("0"), "at least 1, not 0"),
        (lambda: run._parameters(options("--nnodes", "1:2")), "needs --rdzv-backend c10d"),
        (lambda: run._command(options("--no-python", "-m")), "exclude each other"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(SystemExit) as caught:
        call()
    assert str(caught.value).startswith("taedarun: ") and words in str(caught.value)


def test_numbers():
    assert run._nodes("3") == (3, 3) and run._nodes("1:4") == (1, 4)
    assert run._processes("2") == 2 and run._processes("auto") == (os.cpu_count() or 1)


def test_how_machines_meet():
    alone = run._parameters(options())
    assert (alone.backend, alone.endpoint, alone.min_nodes) == ("static", "127.0.0.1:0", 1)
    assert alone.run_id.startswith("taeda_") and alone.get_as_int("rank") == 0
    standalone = run._parameters(options("--standalone", "--nnodes", "4", "--node-rank", "2"))
    assert (standalone.max_nodes, standalone.get_as_int("rank")) == (1, 0)
    two = run._parameters(options("--nnodes", "2", "--node-rank", "1", "--master-addr", "h"))
    assert (two.endpoint, two.run_id, two.get_as_int("rank")) == ("h:29500", "none", 1)
    more = run._parameters(
        options(
            "--nnodes",
            "1:2",
            "--rdzv-backend",
            "c10d",
            "--rdzv-endpoint",
            "h:1",
            "--rdzv-conf",
            "timeout=5,skipped",
            "--rdzv-id",
            "j",
        )
    )
    assert (more.backend, more.endpoint, more.run_id) == ("c10d", "h:1", "j")
    assert more.get_as_int("timeout") == 5 and more.get("rank") is None


def test_the_program():
    rest = ["train.py", "--lr", "1"]
    assert run._command(options()) == (sys.executable, ["-u", *rest])
    assert run._command(options("-m")) == (sys.executable, ["-u", "-m", *rest])
    assert run._command(options("--no-python")) == ("train.py", ["--lr", "1"])


def test_processes_get_one_thread_unless_told(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    run._threads(1)
    assert "OMP_NUM_THREADS" not in os.environ
    run._threads(2)
    assert os.environ["OMP_NUM_THREADS"] == "1"
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    run._threads(2)
    assert os.environ["OMP_NUM_THREADS"] == "3"


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (None, None, ""),
        (run.SignalException("x", run.signal.SIGTERM), 143, "ended by SIGTERM"),
        (run.ChildFailedError("train.py", {0: ProcessFailure(0, 7, 3, "")}), 1, "train.py"),
    ],
)
def test_the_exit_status(error, status, words, monkeypatch, capsys):
    monkeypatch.setattr(run.signal, "signal", lambda *_: None)

    def fake(given):
        assert given.training_script == "train.py"
        if error is not None:
            raise error

    monkeypatch.setattr(run, "run", fake)
    if status is None:
        run.main(["train.py"])
    else:
        with pytest.raises(SystemExit) as caught:
            run.main(["train.py"])
        assert caught.value.code == status
    assert words in capsys.readouterr().err


def test_a_program_runs_to_its_end(tmp_path, monkeypatch):
    monkeypatch.setenv("TAEDA_STORE_SECRET", os.environ.get("TAEDA_STORE_SECRET", ""))
    words = ["--standalone", "--no-python", "--log-dir", str(tmp_path), "--redirects", "1"]
    run.run(run.parse_args([*words, "/bin/sh", "-c", "echo rank $RANK of $WORLD_SIZE"]))
    (log,) = tmp_path.rglob("stdout.log")
    assert log.read_text() == "rank 0 of 1\n"
    with pytest.raises(run.ChildFailedError, match="/bin/sh"):
        run.run(run.parse_args([*words, "/bin/sh", "-c", "exit 3"]))
