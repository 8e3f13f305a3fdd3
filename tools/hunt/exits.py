"""Does a program end when it ends? Fresh processes leave with threads at work, loaders running and
files open.

    python tools/hunt/exits.py                 # each program a few times
    python tools/hunt/exits.py --times 50      # more
    python tools/hunt/exits.py --only loader   # programs whose names hold that word

A program must end within SECONDS with the code it chose, say nothing of a fatal error, and leave no
process and no shared memory behind. Each is ended at another moment every time. Prints what is
wrong; the exit status is 1 if anything is.
"""

from __future__ import annotations

import argparse
import glob
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SECONDS = 30
COMMON = """
import os, sys, threading, time
import taeda
from taeda import nn
from taeda.utils.data import DataLoader, TensorDataset
folder, delay = sys.argv[1], float(sys.argv[2])
def threads(work, count=3, daemon=True):
    for _ in range(count):
        threading.Thread(target=work, daemon=daemon).start()
class Slow:
    def __len__(self):
        return 1000
    def __getitem__(self, i):
        time.sleep(0.01)
        return taeda.full((100, 100), float(i))
"""
#: name -> (text, exit code)
PROGRAMS: dict[str, tuple[str, int]] = {
    "threads that compute": ("""
x = taeda.ones(1000, 1000)
def work():
    while True: (x @ x).exp().sum()
threads(work); time.sleep(delay)""", 0),
    "threads that train": ("""
def work():
    model = nn.Sequential(nn.Linear(50, 200), nn.ReLU(), nn.Linear(200, 1))
    optimizer = taeda.optim.AdamW(model.parameters())
    while True:
        optimizer.zero_grad(); model(taeda.randn(64, 50)).sum().backward(); optimizer.step()
threads(work); time.sleep(delay)""", 0),
    "threads that end by themselves": ("""
def work():
    for _ in range(20): taeda.randn(300, 300).sort()
threads(work, daemon=False); time.sleep(delay)""", 0),
    "a loader in the middle of an epoch": ("""
batches = iter(DataLoader(Slow(), 4, num_workers=2)); next(batches); time.sleep(delay)""", 0),
    "a loader whose workers stay": ("""
loader = DataLoader(Slow(), 4, num_workers=2, persistent_workers=True)
for batch in loader: break
time.sleep(delay)""", 0),
    "loaders in threads": ("""
def work():
    for batch in DataLoader(Slow(), 4, num_workers=1): batch.sum()
threads(work, 2); time.sleep(0.5 + delay)""", 0),
    "a loader and an exception": ("""
batches = iter(DataLoader(Slow(), 4, num_workers=2)); next(batches)
time.sleep(delay); raise ValueError""", 1),
    "a loader and sys.exit in a thread's way": ("""
batches = iter(DataLoader(Slow(), 4, num_workers=2)); next(batches); time.sleep(delay); sys.exit(3)""", 3),
    "threads that save": ("""
state = {"x": taeda.ones(300_000)}
def work(name):
    while True: taeda.save(state, name)
for i in range(2): threading.Thread(target=work, args=(f"{folder}/{i}",), daemon=True).start()
time.sleep(delay)""", 0),
    "mapped files and their views": ("""
taeda.save({"x": taeda.ones(300_000)}, f"{folder}/x")
x = taeda.load(f"{folder}/x", mmap=True)["x"]; views = [x[i:] for i in range(9)]; a = x.numpy()
threads(lambda: [v.sum() for _ in range(10**6) for v in views]); time.sleep(delay)""", 0),
    "shared files": ("""
import taeda.multiprocessing as mp
mp.set_sharing_strategy("file_system")
kept = [taeda.ones(1000).share_memory_() for _ in range(5)]
queue = mp.Queue(); [queue.put(x) for x in kept]; time.sleep(delay)""", 0),
    "shared memory in a child": ("""
import taeda.multiprocessing as mp
x = taeda.ones(1000).share_memory_()
child = mp.get_context("fork").Process(target=lambda: x.add_(1)); child.start(); time.sleep(delay)""", 0),
    "a graph that is never walked": ("""
x = taeda.ones(10, requires_grad=True)
for _ in range(100_000): x = x * 1.0
sys.kept = x; time.sleep(delay)""", 0),
    "finalizers that compute": ("""
class Late:
    def __del__(self, taeda=taeda): (taeda.ones(500, 500) @ taeda.ones(500, 500)).sum()
late, sys.late = Late(), Late(); threads(lambda: [taeda.randn(10**6) for _ in range(10**6)])
time.sleep(delay)""", 0),
    "a fork amid computation": ("""
x = taeda.ones(500, 500)
def work():
    while True: x @ x
threads(work); time.sleep(delay)
if not os.fork():
    (x @ x).sum(); sys.exit(0)
os.wait()""", 0),
}  # fmt: skip


def faults_of(name: str, delay: float) -> list[str]:
    """What goes wrong with one run of a program."""
    text, wanted = PROGRAMS[name]
    before = set(glob.glob("/dev/shm/taeda-*"))
    with tempfile.TemporaryDirectory() as folder:
        child = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-c", COMMON + text, folder, str(delay)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            said = child.communicate(timeout=SECONDS)[1]
        except subprocess.TimeoutExpired:
            left = _processes(child.pid)
            os.killpg(child.pid, 9)
            child.communicate()
            return [f"has not ended after {SECONDS} s; processes {left}"]
    found = []
    if child.returncode != wanted:
        found.append(f"ended with {child.returncode}, not {wanted}: {said[-300:]!r}")
    found += [
        f"said {word!r}: {said[-300:]!r}" for word in ("Fatal", "Exception ignored") if word in said
    ]
    end = time.monotonic() + 15  # workers end by themselves, and what is shared goes with them
    while (left := _left(child.pid, before)) and time.monotonic() < end:
        time.sleep(0.05)
    return found + [f"left {thing}" for thing in left]


def _left(session: int, before: set[str]) -> list[str]:
    return [f"process {pid}" for pid in _processes(session)] + sorted(
        set(glob.glob("/dev/shm/taeda-*")) - before
    )


def _processes(session: int) -> list[int]:
    """Those of a session that are no zombies."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(path.parent.name))
    return found


def main() -> int:
    """Run what the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--times", type=int, default=3, help="how often each program runs")
    parser.add_argument("--only", default="", help="a word in the names of the programs")
    parser.add_argument("--seed", type=int, default=0, help="of the moments at which they end")
    options = parser.parse_args()
    moments, runs, faults = random.Random(options.seed), 0, 0
    for name in PROGRAMS:
        if options.only not in name:
            continue
        for _ in range(options.times):
            delay = moments.choice([0, moments.random() * 0.3])
            runs += 1
            for fault in faults_of(name, delay):
                faults += 1
                print(f"{name}, after {delay:.3f} s: {fault}", flush=True)
    print(f"{runs} runs, {faults} faults")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
