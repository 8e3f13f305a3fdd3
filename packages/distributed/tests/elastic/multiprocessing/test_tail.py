"""Lines that processes write to files, shown as they come."""

from __future__ import annotations

import io

from taeda.distributed.elastic.multiprocessing.tail import Tail


def test_whole_lines_with_their_prefixes(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    out = io.StringIO()
    tail = Tail({str(one): "[0] ", str(two): "[1] "}, out)
    one.write_bytes(b"first\nsecond\nhalf")
    two.write_bytes(b"\xff\n")
    tail.stop()
    assert out.getvalue() == "[0] first\n[0] second\n[0] half\n[1] \ufffd\n"


def test_half_a_line_waits_for_its_end(tmp_path):
    path, out = tmp_path / "log", io.StringIO()
    tail = Tail({}, out)
    tail._files, tail._at = {str(path): ""}, {str(path): 0}
    tail._show()  # it is not there yet
    path.write_bytes(b"one\ntw")
    tail._show()
    assert out.getvalue() == "one\n"
    path.write_bytes(b"one\ntwo\n")
    tail._show()
    tail._show()
    assert out.getvalue() == "one\ntwo\n"
    tail.stop()
