"""Break a rank in the middle of every kind of call. The others end in time, and say who, what and where.

    python tools/faults.py                     every call, every fault, 2 and 4 ranks
    python tools/faults.py --calls "reduce"    calls whose name matches
    python tools/faults.py --part 3/25         every 25th case, from the third on

A case is a program on several processes with a time limit of one second for each call. All make the call twice; then the last
rank does the fault, and the others call once more. Each must end by itself with an error that names the rank, the
call, its number, its shape and the line of the program, within the limit and a grace. No process and no shared memory is left.
"""

from __future__ import annotations

import argparse
import re
import signal
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "testing"))
from ranks import Ended, finish, started

LIMIT = 1.0  # seconds: the timeout of the group
START = 60.0  # seconds until all have started and made two calls

# name: what a rank runs; `n` values of `dtype`, which a rank that differs changes
CALLS = {
    "all_reduce": "dist.all_reduce(ones(n), group=g)",
    "all_reduce_large": "dist.all_reduce(ones(n << 18), group=g)",
    "all_reduce_async": "dist.all_reduce(ones(n), group=g, async_op=True).wait()",
    "reduce": "dist.reduce(ones(n), 0, group=g)",
    "broadcast": "dist.broadcast(ones(n), 0, group=g)",
    "all_gather": "dist.all_gather([ones(n) for _ in range(size)], ones(n), group=g)",
    "all_gather_into_tensor": "dist.all_gather_into_tensor(ones(size * n), ones(n), group=g)",
    "gather": "dist.gather(ones(n), [ones(n) for _ in range(size)] if rank == 0 else None, group=g)",
    "scatter": "dist.scatter(ones(n), [ones(n) for _ in range(size)] if rank == 0 else None, group=g)",
    "reduce_scatter_tensor": "dist.reduce_scatter_tensor(ones(n), ones(size * n), group=g)",
    "all_to_all_single": "dist.all_to_all_single(ones(size * n), ones(size * n), group=g)",
    "barrier": "dist.barrier(group=g)",
    "all_gather_object": "dist.all_gather_object([None] * size, {'n': n}, group=g)",
    "broadcast_object_list": "dist.broadcast_object_list([n], 0, group=g)",
    "recv": "dist.recv(ones(n), size - 1, group=g)",
    "step": "model(ones(4, n + 93)).sum().backward()",
}
DEADLY = {"kill": "SIGKILL", "stop": "SIGSTOP"}
FAULTS = ("kill", "stop", "raise", "exit", "sleep", "shape", "dtype", "order")
TENSORLESS = ("barrier", "all_gather_object", "broadcast_object_list", "step", "recv")

PROGRAM = """
import time, signal
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo", timeout=seconds({start}))
short = dist.new_group(list(range(size)), timeout=seconds({limit}))
g = dist.new_group(list(range(size)))  # patient, until all are at work
model = DistributedDataParallel(nn.Linear(100, 10), process_group=short)
n, dtype, fault, victim = 7, taeda.float32, {fault!r}, rank == size - 1
ones = lambda *sizes: taeda.ones(*sizes, dtype=dtype)
def call():
    {call}
if {ready}:
    call()
    call()
dist.barrier()
g = short
def harm():
    global n, dtype
    if fault in ("kill", "stop"): os.kill(os.getpid(), getattr(signal, {deadly!r}))
    if fault == "raise": raise ZeroDivisionError("the cause")
    if fault == "exit": sys.exit(0)
    if fault == "sleep": time.sleep(100)
    if fault == "shape": n += 1
    if fault == "dtype": dtype = taeda.float64
start = time.monotonic()
try:
    dist.barrier(g)
    if victim: harm()
    start = time.monotonic()
    if fault == "order" and victim: dist.all_reduce(taeda.ones(3), dist.ReduceOp.MAX, g)
    else: call()
except dist.DistBackendError as error:
    print(type(error).__name__, round(time.monotonic() - start, 2))
    print(error)
    sys.exit(3)
"""


@dataclass(frozen=True)
class Case:
    """One fault during one call."""

    call: str
    fault: str
    size: int

    def __str__(self) -> str:
        return f"{self.fault} during {self.call} of {self.size}"

    def program(self) -> str:
        return PROGRAM.format(
            limit=LIMIT,
            start=START,
            fault=self.fault,
            call=CALLS[self.call],
            deadly=DEADLY.get(self.fault, ""),
            ready=self.call not in ("recv", "step"),  # a step has the short limit
        )


def possible(case: Case) -> bool:
    """Is there anything to differ in? A receiver knows only the sender's process."""
    differs = case.fault in ("shape", "dtype", "order")
    if case.fault == "order":
        return case.call != "recv"
    return not (differs and case.call in TENSORLESS)


def cases(pattern: str = "", faults: str = "") -> list[Case]:
    every = [Case(c, f, size) for size in (2, 4) for c in CALLS for f in FAULTS]
    return [
        case
        for case in every
        if possible(case) and re.search(pattern, case.call) and re.search(faults, case.fault)
    ]


def wrong(case: Case, ended: Ended, grace: float) -> str:
    """What a survivor did not do or say; empty if all is well."""
    if ended.code != 3:
        return f"ended with {ended.code}: {ended.out[-300:]}{ended.err[-600:]}"
    head, _, text = ended.out.partition("\n")
    waited = float(head.split()[-1])
    if waited > LIMIT + grace:
        return f"waited {waited} s"
    words = [rf"\brank {case.size - 1}\b", "program.py:", r"\bcollective \d+|\brecv\("]
    missing = [word for word in words if not re.search(word, text)]
    return f"does not say {missing}: {text}" if missing else ""


def stacks(processes: list[subprocess.Popen[str]]) -> str:
    """Where those stand that still run. It ends them."""
    told = []
    for rank, process in enumerate(processes):
        if process.poll() is None:
            process.send_signal(signal.SIGABRT)
            told.append(f"rank {rank}:\n{process.communicate(timeout=10)[1][-2000:]}")
    return "\n".join(told)


def shared_memory() -> set[str]:
    folder = Path("/dev/shm")
    return {p.name for p in folder.iterdir()} if folder.is_dir() else set()


def still_there(names: set[str]) -> set[str]:
    """Those that stay: other programs of this machine come and go."""
    until = time.monotonic() + 3
    while (names := names & shared_memory()) and time.monotonic() < until:
        time.sleep(0.1)
    return names


def run_case(case: Case, grace: float) -> tuple[float, list[str]]:
    """The longest wait of a survivor in seconds, and what was wrong."""
    before = shared_memory()
    with started(case.program(), case.size, PYTHONFAULTHANDLER="1") as processes:
        try:
            survivors = finish(processes[:-1], START + LIMIT + grace)
        except AssertionError as error:
            return float("inf"), [f"{error}\n{stacks(processes)}"]
        if case.fault == "stop":
            processes[-1].send_signal(signal.SIGCONT)
            processes[-1].kill()
    found = [w for rank, e in enumerate(survivors) if (w := wrong(case, e, grace))]
    waits = [float(e.out.split()[1]) for e in survivors if e.code == 3]
    if left := still_there(shared_memory() - before):
        found.append(f"left in shared memory: {sorted(left)}")
    return max(waits, default=0.0), found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--calls", default="")
    parser.add_argument("--faults", default="")
    parser.add_argument("--part", default="0/1", help="K/N: cases K, K + N, K + 2 N ...")
    parser.add_argument("--grace", type=float, default=5.0, help="seconds beyond the limit")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    chosen = cases(options.calls, options.faults)[part::parts]
    waits, findings, start = defaultdict(list), 0, time.monotonic()
    for number, case in enumerate(chosen, 1):
        waited, found = run_case(case, options.grace)
        waits[case.fault].append(waited)
        for text in found:
            print(f"{case}: {text}", flush=True)
        findings += bool(found)
        if sys.stderr.isatty():
            print(f"\r{number} of {len(chosen)}: {case}        ", end="", file=sys.stderr)
    for fault, found in waits.items():
        print(f"{fault:6} {len(found):4} cases, longest wait {max(found):.2f} s")
    print(f"{len(chosen)} faults, {findings} findings, {time.monotonic() - start:.0f} s")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
