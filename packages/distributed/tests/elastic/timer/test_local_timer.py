"""A timer by a queue ends a process."""

from __future__ import annotations

import multiprocessing
import signal

from elastic_work import sleeper

from taeda.distributed.elastic import timer


def test_a_timer_ends_a_process():
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    server = timer.LocalTimerServer(queue, max_interval=0.05)
    server.start()
    process = context.Process(target=sleeper, args=(queue,))
    process.start()
    process.join(60)
    server.stop()
    queue.close()
    assert process.exitcode == -signal.SIGKILL
