"""Traces of several processes in one."""

import gzip
import json

import pytest

from taeda.profiler._merge import main, merged


def trace(base, *events, **more):
    return {"baseTimeNanoseconds": base, "traceEvents": list(events), **more}


def test_times_are_those_of_one_clock():
    one = {"ph": "X", "name": "a", "pid": 77, "ts": 1.0, "dur": 2.0}
    first = trace(5_000_000, one, distributedInfo={"rank": 1})
    whole = merged([first, trace(2_000_000, one)], ["x.json", "worker.json"])
    events = [event for event in whole["traceEvents"] if event["ph"] == "X"]
    assert [(event["pid"], event["ts"]) for event in events] == [(0, 3001.0), (1, 1.0)]
    names = [e["args"]["name"] for e in whole["traceEvents"] if e["name"] == "process_name"]
    assert names == ["rank 1", "worker.json"] and one["pid"] == 77


def test_files_are_read_and_written(tmp_path):
    plain, packed, out = (tmp_path / name for name in ("a.json", "b.json.gz", "out.json.gz"))
    data = json.dumps(trace(0, {"ph": "X", "name": "a", "ts": 0})).encode()
    plain.write_bytes(data)
    packed.write_bytes(gzip.compress(data))
    assert main(["--out", str(out), str(plain), str(packed)]) == 0
    assert len(json.loads(gzip.decompress(out.read_bytes()))["traceEvents"]) == 6


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"traceEvents": 3}', "\x1f\x8b"])
def test_what_is_no_trace_is_refused(tmp_path, text):
    (tmp_path / "a.json").write_text(text, encoding="latin-1")
    with pytest.raises(SystemExit, match=r"a\.json"):
        main(["--out", str(tmp_path / "out.json"), str(tmp_path / "a.json")])
    assert not (tmp_path / "out.json").exists()
