"""Lines of several processes on one console."""

from __future__ import annotations

import os
import time

from taeda.distributed.elastic.multiprocessing.lines import LONGEST, Lines


def shown(read: int, count: int) -> bytes:
    text = b""
    while len(text) < count:
        text += os.read(read, 1 << 16)
    return text


def test_lines_are_whole_and_half_ones_are_shown_after_a_while():
    read, out = os.pipe()
    lines = Lines(out)
    with open(lines.pipe(), "wb", 0) as one, open(lines.pipe(), "wb", 0) as two:
        lines.start()
        one.write(b"a")
        two.write(b"other\n")
        assert shown(read, 6) == b"other\n"
        one.write(b"b\nc")
        assert shown(read, 3) == b"ab\n"
        assert shown(read, 1) == b"c"  # a prompt waits for an answer
        two.write(b"x" * (LONGEST + 5) + b"\nend")
        assert shown(read, LONGEST + 6).startswith(b"xxx")
        one.close()
        lines.stop()  # the other pipe is still open
        assert shown(read, 3) == b"end"
    os.close(out)
    assert os.read(read, 10) == b""
    os.close(read)


def test_a_console_that_nobody_reads_ends_nothing():
    read, out = os.pipe()
    os.close(read)
    lines = Lines(out)
    with open(lines.pipe(), "wb", buffering=0) as pipe:
        lines.start()
        for _ in range(3):
            pipe.write(b"lost\n")
            time.sleep(0.01)
    lines.stop()
    lines.stop()
    os.close(out)
