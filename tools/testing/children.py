"""What started processes run in tests: they import it by name, which a test file's functions are not."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import taeda
import taeda.multiprocessing as mp


class Marked(taeda.Tensor):
    """A subclass with attributes of its own."""


def echo(inbox: Any, outbox: Any) -> None:
    """Send back what arrives, until None comes."""
    while (value := inbox.get()) is not None:
        outbox.put(value)


def fill(tensors: list[Any], value: float) -> None:
    """Write into every tensor."""
    for tensor in tensors:
        tensor.detach().fill_(value)


def fail_in_one(i: int, how: str, seconds: float = 60) -> None:
    """Process 1 ends in the way asked for; the others sleep, and are meant to be ended."""
    if i != 1:
        if how == "stubborn":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(seconds)
        return
    if how in ("raise", "stubborn"):
        raise ValueError("seven " + "words " * 20_000 if how == "raise" else "seven")
    if how == "exit":
        sys.exit(3)
    if how == "interrupt":
        raise KeyboardInterrupt
    os.kill(os.getpid(), getattr(signal, how))


def write_pid_and_sleep(i: int, folder: str) -> None:
    """Leave a file with the process id, then wait to be ended."""
    (Path(folder) / f"{i}.tmp").write_text(str(os.getpid()))
    (Path(folder) / f"{i}.tmp").rename(Path(folder) / f"{i}.pid")
    time.sleep(60)


def spawn_and_be_killed(folder: str) -> None:
    """Start two processes, and end by SIGKILL once both run."""
    context = mp.spawn(write_pid_and_sleep, args=(folder,), nprocs=2, join=False)
    while len(list(Path(folder).glob("*.pid"))) < 2:
        time.sleep(0.01)
    assert context is not None
    os.kill(os.getpid(), signal.SIGKILL)


def fill_all(i: int, tensor: Any) -> None:
    """Every process writes the same."""
    tensor.fill_(5)
