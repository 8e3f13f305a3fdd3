"""What is left of a checkpoint when the process, the disk or the file fails? Prints one figure a line.

    python tools/hunt/crash.py                      a minute
    python tools/hunt/crash.py --large 1000 --timed 200

Exits 1 if a figure is missed.
"""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import itertools
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import taeda
from taeda.testing import faults

State = dict[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--large", type=int, default=100, help="random bytes of a large save")
    parser.add_argument("--timed", type=int, default=30, help="random moments of a large save")
    chosen = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for figure in (
            lambda: killed_at_every_byte(folder / "small"),
            lambda: killed_at_random_bytes(folder / "large", chosen.large),
            lambda: killed_at_random_moments(folder / "timed", chosen.timed),
            lambda: readers_beside_a_writer(folder / "readers"),
            lambda: every_fault(folder / "faults"),
            lambda: power_cuts(folder / "cuts", "normal"),
            lambda: power_cuts(folder / "all cuts", "full"),
            lambda: flipped_bits(),
            lambda: memory_of_a_load(folder / "memory"),
            lambda: a_mapped_file(folder / "mapped"),
        ):
            text, good = figure()
            print(f"{'ok    ' if good else 'MISSED'} {text}", flush=True)
            missed += not good
    return int(missed > 0)


# ---- killed ----


def state(epoch: int, count: int = 6) -> State:
    """A small training state; with a larger `count`, one of `count` * 16 bytes."""
    return {
        "epoch": epoch,
        "weight": taeda.full((count, 2), float(epoch)),
        "steps": taeda.full((count,), epoch),
    }


def whole(path: Path, *epochs: int) -> bool:
    """Whether the file is exactly one of these states, and nothing else lies beside it after a save."""
    made = taeda.load(path)
    epoch = made["epoch"]
    return epoch in epochs and all(
        bool((made[name] == epoch).all()) for name in ("weight", "steps")
    )


def in_a_child(action: Callable[[], object]) -> int:
    """Run `action` in a fork; the signal that ended it."""
    return os.waitpid(_started(action), 0)[1] & 0x7F


def _started(action: Callable[[], object]) -> int:
    """A fork that runs `action`; it exits with 1 after an exception."""
    child = os.fork()
    if child:
        return child
    try:
        action()
    except BaseException:  # noqa: BLE001 - nothing of the parent's may run in the child
        os._exit(1)
    os._exit(0)


def killed_at_every_byte(folder: Path) -> tuple[str, bool]:
    """SIGKILL after each byte that a small save writes, and ahead of each of its operations."""
    folder.mkdir()
    path = folder / "model"
    taeda.save(state(1), path)
    with faults.recorded() as steps:
        taeda.save(state(2), folder / "other", sync="full")
    points: list[dict[str, int]] = [{"after_bytes": b} for b in range(1, _bytes(steps) + 1)]
    points += [{"at": number} for number in range(len(steps) + 2)]
    good = sum(_killed(path, point) for point in points)
    taeda.save(state(3), path)
    strays = len(os.listdir(folder)) - 2
    text = (
        f"killed after every byte and operation of a small save: {good} of {len(points)} whole, "
        f"{strays} stray files"
    )
    return text, good == len(points) and not strays


def _bytes(steps: list[faults.Step]) -> int:
    return sum(len(step.data) for step in steps)


def _killed(path: Path, point: dict[str, int], count: int = 6) -> bool:
    def save() -> None:
        with faults.killed(**point):
            taeda.save(state(2, count), path, sync="full")

    ended = in_a_child(save)
    return ended in (0, signal.SIGKILL) and whole(path, 1, 2)


def killed_at_random_bytes(folder: Path, points: int) -> tuple[str, bool]:
    """SIGKILL after random bytes of a save of 16 MB."""
    folder.mkdir()
    path, count, draw = folder / "model", 1 << 20, random.Random(0)
    taeda.save(state(1, count), path)
    size = path.stat().st_size
    good = sum(
        _killed(path, {"after_bytes": draw.randrange(1, size)}, count) for _ in range(points)
    )
    taeda.save(state(3), path)
    strays = len(os.listdir(folder)) - 1
    text = (
        f"killed at random bytes of a save of {size >> 20} MB: {good} of {points} whole, {strays} "
        "stray files"
    )
    return text, good == points and not strays


def killed_at_random_moments(folder: Path, points: int) -> tuple[str, bool]:
    """SIGKILL from outside, at random times, to a process that saves again and again."""
    folder.mkdir()
    path, count, draw = folder / "model", 1 << 20, random.Random(0)
    taeda.save(state(1, count), path)
    good = 0
    for _ in range(points):
        child = os.fork()
        if child == 0:
            for epoch in itertools.cycle((1, 2)):
                taeda.save(state(epoch, count), path)
        time.sleep(0.02 + 0.2 * draw.random())
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        good += whole(path, 1, 2)
    return f"killed at random moments of saves of 16 MB: {good} of {points} whole", good == points


def readers_beside_a_writer(folder: Path, readers: int = 2, saves: int = 500) -> tuple[str, bool]:
    """Processes that load all the time while another saves: what they read is whole."""
    folder.mkdir()
    path, stop = folder / "model", folder / "stop"
    taeda.save(state(1), path)

    def read() -> None:
        while not stop.exists():
            if not whole(path, 1, 2):
                os.kill(os.getpid(), signal.SIGABRT)

    children = [_started(read) for _ in range(readers)]
    for number in range(saves):
        taeda.save(state(1 + number % 2), path)
    stop.touch()
    ended = [os.waitpid(child, 0)[1] for child in children]
    told = f"{ended.count(0)} saw nothing but whole files"
    return f"{readers} readers beside {saves} saves: {told}", not any(ended)


# ---- failing disks ----

NUMBERS = (
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EIO,
    errno.EROFS,
    errno.EACCES,
    errno.EFBIG,
    errno.EINTR,
)


def every_fault(folder: Path) -> tuple[str, bool]:
    """Each error at each operation, one after the other; and short writes."""
    folder.mkdir()
    path, tried, good = folder / "model", 0, 0
    for number, at in itertools.product(NUMBERS, range(12)):
        taeda.save(state(1), path)
        text = ""
        try:
            with faults.failing("any", number, at):
                taeda.save(state(2), path, sync="full")
        except OSError as error:
            text = str(error)
        tried += 1
        told = not text or number == errno.EINTR or "is as it was" in text or "is written" in text
        good += told and whole(path, 1, 2) and os.listdir(folder) == ["model"]
    for most in (1, 3, 1000):
        with faults.torn(most):
            taeda.save(state(2), path)
        tried += 1
        good += whole(path, 2)
    text = f"{len(NUMBERS)} errors at each operation, and short writes: {good} of {tried} whole and told"
    return text, good == tried


def power_cuts(folder: Path, sync: Any) -> tuple[str, bool]:
    """Every state that lost writes and renames may leave between the syncs, and after the last."""
    folder.mkdir()
    path, copy = folder / "model", folder / "copy"
    taeda.save(state(1), path)
    before = {str(path): path.read_bytes()}
    with faults.recorded() as steps:
        taeda.save(state(2), path, sync=sync)
    good = tried = 0
    for name, left in faults.power_cuts(steps, before):
        copy.write_bytes(left[str(path)])
        ended = name.startswith(f"cut {len(steps)},")
        tried += 1
        good += whole(copy, *((2,) if ended and sync == "full" else (1, 2)))
    text = f"states that a power cut may leave, sync={sync!r}: {good} of {tried} whole"
    return text, good == tried


# ---- damaged files ----


def flipped_bits() -> tuple[str, bool]:
    """Every bit of a small file."""
    file = io.BytesIO()
    taeda.save(state(1), file)
    data = bytearray(file.getvalue())
    start = 8 + int.from_bytes(data[:8], "little")
    found = 0
    for bit in range(8 * len(data)):
        data[bit // 8] ^= 1 << bit % 8
        try:
            taeda.load(io.BytesIO(data))
        except taeda.serialization.FormatError as error:
            wanted = ("header",) if bit // 8 < start else ("'weight'", "'steps'")
            found += any(word in str(error) for word in wanted)
        data[bit // 8] ^= 1 << bit % 8
    text = f"flipped bits of a small file: {found} of {8 * len(data)} found, header or tensor named"
    return text, found == 8 * len(data)


# ---- memory ----

_MEASURED = """
import pathlib, sys, time
import taeda
def peak():  # not getrusage: its peak is the parent's at first
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024
taeda.save({"a": taeda.ones(10)}, sys.argv[1] + ".first")
taeda.load(sys.argv[1] + ".first", mmap=sys.argv[2] == "True")
before, begin = peak(), time.perf_counter()
state = taeda.load(sys.argv[1], mmap=sys.argv[2] == "True")
print(peak() - before, time.perf_counter() - begin)
"""


def _measured(path: Path, mmap: bool) -> tuple[int, float]:
    """Bytes of memory that a load took at most, and seconds, in a process of its own."""
    command = [sys.executable, "-c", _MEASURED, str(path), str(mmap)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return int(out[0]), float(out[1])


def memory_of_a_load(folder: Path) -> tuple[str, bool]:
    """Peak of memory above that of the tensors."""
    folder.mkdir()
    size = 256 << 20
    with _saved({"w": taeda.ones(size // 8), "v": taeda.ones(size // 8)}, folder / "model") as path:
        above = _measured(path, mmap=False)[0] - size
    told = f"peak of memory while loading {size >> 20} MB: {above / 2**20:.1f} MB above the tensors"
    return told, above <= 16 << 20


def a_mapped_file(folder: Path) -> tuple[str, bool]:
    """A map of 10 GB, of which nothing is read."""
    folder.mkdir()
    size = 10 << 30
    with (
        taeda.serialization.skip_data(),
        _saved({"w": taeda.empty(size // 4)}, folder / "model") as path,
    ):
        taken, seconds = _measured(path, mmap=True)
    text = f"mmap of {size >> 30} GB: {1e3 * seconds:.1f} ms, {taken / 2**20:.1f} MB"
    return text, seconds <= 0.05 and taken <= 30 << 20


@contextlib.contextmanager
def _saved(value: State, path: Path) -> Iterator[Path]:
    taeda.save(value, path)
    value.clear()
    yield path
    path.unlink()


if __name__ == "__main__":
    sys.exit(main())
