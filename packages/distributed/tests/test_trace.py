"""One sentence from the flight recorders of all ranks."""

from __future__ import annotations

import pytest

from taeda.distributed import trace


def call(seq, signature="all_reduce(SUM, float32 (3,))", line="a.py:1", state="done"):
    return {
        "group": "0",
        "seq": seq,
        "signature": signature,
        "line": line,
        "state": state,
        "began": float(seq),
    }


def test_traces():
    both = {0: {"calls": [call(1), call(2)]}, 1: {"calls": [call(1), call(2)]}}
    assert trace.verdict(both).startswith("ranks 0, 1 agree")
    both[1]["calls"][1] = call(2, "barrier()", "b.py:9")
    assert trace.verdict(both) == (
        "in group 0, collective 2 differs: rank 0 called all_reduce(SUM, float32 (3,)) at a.py:1 (done); "
        "rank 1 called barrier() at b.py:9 (done)"
    )
    both[1]["calls"].pop()
    assert "rank 1 never came to collective 2, where rank 0 was in all_reduce" in trace.verdict(
        both
    )


def test_dumps_of_a_failure(mpi, tmp_path):
    from ranks import run_ranks

    code = """
dist.init_process_group("gloo", timeout=seconds(1))
for _ in range(3):
    dist.all_reduce(taeda.ones(2))
if rank == 0:
    dist.all_reduce(taeda.ones(5))
else:
    import time; time.sleep(1.5)
    dist.broadcast(taeda.ones(7), 0)
"""
    ended = run_ranks(code, 2, TAEDA_TRACE_DIR=str(tmp_path))
    assert all(one.code for one in ended)
    sentence = trace.verdict(trace.load(tmp_path))
    assert (
        "collective 4 differs" in sentence
        and "all_reduce(SUM, float32 (5,))" in sentence
        and "broadcast" in sentence
    )
    with pytest.raises(ValueError, match="TAEDA_TRACE_DIR"):
        trace.load(tmp_path / "none")
