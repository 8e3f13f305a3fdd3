"""Break a rank in the middle of every kind of call. The others end in time, and say who, what and where.

    python tools/hunt/faults.py                     every call, every fault, 2 and 4 ranks, 2 ranks on
                                               each of 2 nodes
    python tools/hunt/faults.py --calls "reduce"    calls whose name matches
    python tools/hunt/faults.py --nodes 2           the cases on two nodes only; they are network
                                               namespaces, and need root
    python tools/hunt/faults.py --part 3/25         every 25th case, from the third on

A case is a program on several processes with a time limit of one second for each call. All make the
call twice; then the last rank does the fault, and the others call once more. Each must end by
itself with an error that names the rank, the call, its number, its shape and the line of the
program, within the limit and a grace. No process and no shared memory is left. The fault "link"
cuts the wire between two nodes. Two more befall the start: a port that is taken, a full /dev/shm.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from nodes import Node, two_nodes, why_not
from ranks import Ended, finish, started

LIMIT = 1.0  # seconds: the timeout of the group
START = 60.0  # seconds until all have started and made two calls

# name: what a rank runs; `n` values of `dtype`, which a rank that differs changes
CALLS = {
    "all_reduce": "dist.all_reduce(ones(n), group=g)",
    "all_reduce_large": "dist.all_reduce(ones(n << 18), group=g)",
    "all_reduce_async": "dist.all_reduce(ones(n), group=g, async_op=True).wait()",
    "all_reduce_coalesced": "dist.all_reduce_coalesced([ones(n), ones(2)], group=g)",
    "reduce": "dist.reduce(ones(n), 0, group=g)",
    "broadcast": "dist.broadcast(ones(n), 0, group=g)",
    "all_gather": "dist.all_gather([ones(n) for _ in range(size)], ones(n), group=g)",
    "all_gather_into_tensor": "dist.all_gather_into_tensor(ones(size * n), ones(n), group=g)",
    "all_gather_coalesced": "dist.all_gather_coalesced([[ones(n)] for _ in range(size)], [ones(n)], group=g)",
    "gather": "dist.gather(ones(n), [ones(n) for _ in range(size)] if rank == 0 else None, group=g)",
    "scatter": "dist.scatter(ones(n), [ones(n) for _ in range(size)] if rank == 0 else None, group=g)",
    "reduce_scatter_tensor": "dist.reduce_scatter_tensor(ones(n), ones(size * n), group=g)",
    "reduce_scatter": "dist.reduce_scatter(ones(n), [ones(n) for _ in range(size)], group=g)",
    "all_to_all": "dist.all_to_all([ones(n) for _ in range(size)], [ones(n) for _ in range(size)], group=g)",
    "all_to_all_single": "dist.all_to_all_single(ones(size * n), ones(size * n), group=g)",
    "barrier": "dist.barrier(group=g)",
    "all_gather_object": "dist.all_gather_object([None] * size, {'n': n}, group=g)",
    "broadcast_object_list": "dist.broadcast_object_list([n], 0, group=g)",
    "gather_object": "dist.gather_object({'n': n}, [None] * size if rank == 0 else None, 0, g)",
    "scatter_object_list": "dist.scatter_object_list([None], [n] * size if rank == 0 else None, 0, g)",
    "monitored_barrier": "dist.monitored_barrier(g, wait_all_ranks=True)",
    "store_get": "turn += 1; store.set(f'of rank {rank} in {turn}', ''); store.get(f'of rank {size "
    "- 1} in {turn}')",
    "recv": "dist.recv(ones(n), size - 1 if rank < size - 1 else 0, group=g)",
    "step": "model(ones(4, n + 93)).sum().backward()",
    "unit_gather": "sharded(ones(4, n + 93)).sum().backward()",
    "unit_reduce": "made = sharded(ones(4, n + 93)); reach(); made.sum().backward()",
    "redistribute": "cut.redistribute(placements=[Replicate()])",
    "commit": "dcp.save({'w': cut}, storage_writer=Writer(folder), process_group=g)",
    "commit_aside": "dcp.async_save({'w': cut}, storage_writer=Writer(folder), process_group=g).result()",
}
SHARDED = ("unit_gather", "unit_reduce", "redistribute", "commit", "commit_aside")
INSIDE = ("unit_reduce", "commit", "commit_aside")  # the fault comes in the middle of the call
DEADLY = {"kill": "SIGKILL", "stop": "SIGSTOP"}
FAULTS = ("kill", "stop", "raise", "exit", "sleep", "shape", "dtype", "order")
FAR_FAULTS = ("link", "kill", "stop", "raise", "shape")  # on two nodes
TENSORLESS = (
    "barrier", "all_gather_object", "broadcast_object_list", "gather_object", "scatter_object_list",
    "monitored_barrier", "store_get", "step", "recv", *SHARDED,
)  # fmt: skip
# no member of the order of collectives, or of several
OUTSIDE = ("recv", "monitored_barrier", "store_get", *SHARDED)
PLACE = [r"\bcollective \d+|\brecv\(", "program.py:"]
SAID = {
    "monitored_barrier": ["monitored_barrier"],
    "store_get": [r"nobody set .of rank \d|store at"],
    "unit_gather": [*PLACE, r"gathers unit 0\b"],
    "unit_reduce": [*PLACE, r"reduces the gradients of unit 1\b"],
    "commit": [*PLACE, "saving: writing"],
    "commit_aside": ["saving: writing", "program.py:"],
}
# the wire is cut before the call, so that its first step is what waits
SAID_CUT = {
    "unit_reduce": [*PLACE, r"gathers unit 0\b"],
    "commit": [*PLACE, "saving: the plan"],
    "commit_aside": ["saving: the plan", "program.py:"],
}

PROGRAM = """
import time, signal
from taeda import nn
from taeda.nn.parallel import DistributedDataParallel
dist.init_process_group("gloo", timeout=seconds({start}))
short = dist.new_group(list(range(size)), timeout=seconds({limit}))
g = dist.new_group(list(range(size)))  # patient, until all are at work
store = dist.PrefixStore("mine", g.store)
store.set_timeout(seconds({limit}))
turn, refusals = 0, dist.DistError
model = DistributedDataParallel(nn.Linear(100, 10), process_group=short)
{sharded}
n, dtype, fault, victim = 7, taeda.float32, {fault!r}, rank == size - 1
ones = lambda *sizes: taeda.ones(*sizes, dtype=dtype)
def call():
    global turn
    {call}
armed = False
reach = lambda: None
if {ready}:
    call()
    call()
dist.barrier()
if fault == "link": print("ready", flush=True)
g = short
def harm():
    global n, dtype
    if fault in ("kill", "stop"): os.kill(os.getpid(), getattr(signal, {deadly!r}))
    if fault == "raise": raise ZeroDivisionError("the cause")
    if fault == "exit": sys.exit(0)
    if fault == "sleep": time.sleep(100)
    if fault == "shape": n += 1
    if fault == "dtype": dtype = taeda.float64
def reach():
    if armed: harm()
start = time.monotonic()
try:
    if fault != "link": dist.barrier(g)
    armed = victim
    if victim and not {inside}: harm()
    while fault == "link" and not os.path.exists(os.environ["CUT"]): time.sleep(0.01)
    start = time.monotonic()
    if fault == "order" and victim: dist.all_reduce(taeda.ones(3), dist.ReduceOp.MAX, g)
    else: call()
except refusals as error:
    print(type(error).__name__, round(time.monotonic() - start, 2))
    print(error)
    sys.exit(3)
"""


# what sharded cases need besides: a mesh on the short group, two units, a tensor in parts, a writer
SHARDED_PROGRAM = """
import tempfile
import taeda.distributed.checkpoint as dcp
from taeda.distributed.fsdp import fully_shard
from taeda.distributed.tensor import Replicate, Shard, distribute_tensor
mesh = dist.DeviceMesh.from_group(short, "cpu")
sharded = nn.Sequential(nn.Linear(100, 10), nn.Linear(10, 10))
for layer in sharded: fully_shard(layer, mesh=mesh, reshard_after_forward=False)
fully_shard(sharded, mesh=mesh)
refusals = (dist.DistError, dcp.api.CheckpointException)
cut = distribute_tensor(taeda.ones(8, 3), mesh, [Shard(0)])
places = [tempfile.mkdtemp()]
dist.broadcast_object_list(places, 0)
folder = places[0]
class Writer(dcp.FileSystemWriter):
    def write_data(self, plan, planner):
        reach()
        return super().write_data(plan, planner)
"""


@dataclass(frozen=True)
class Case:
    """One fault during one call."""

    call: str
    fault: str
    size: int
    nodes: int = 1

    def __str__(self) -> str:
        return f"{self.fault} during {self.call} of {self.size} on {self.nodes}"

    def survivors(self) -> int:
        """How many of the first ranks must tell; all, if it is the wire that was cut."""
        return self.size - (self.fault != "link")

    def program(self) -> str:
        if self.call == "start":
            return BEGIN.format(limit=BEGIN_LIMIT)
        return PROGRAM.format(
            limit=LIMIT,
            start=START,
            fault=self.fault,
            call=CALLS[self.call],
            deadly=DEADLY.get(self.fault, ""),
            # these have the short limit
            ready=self.call not in ("recv", "step", *SHARDED),
            sharded=SHARDED_PROGRAM if self.call in SHARDED else "",
            inside=self.call in INSIDE,
        )


def possible(case: Case) -> bool:
    """Is there anything to differ in? A receiver knows only the sender's process."""
    differs = case.fault in ("shape", "dtype", "order")
    if case.fault == "order":
        return case.call not in OUTSIDE
    return not (differs and case.call in TENSORLESS)


def cases(pattern: str = "", faults: str = "", nodes: int = 0) -> list[Case]:
    """Those that match; `nodes` 0 stands for one and two."""
    every = [Case(c, f, size) for size in (2, 4) for c in CALLS for f in FAULTS]
    every += [Case("start", f, size) for size in (2, 4) for f in STARTS]
    every += [Case(c, f, 4, 2) for c in CALLS for f in FAR_FAULTS]
    return [
        case
        for case in every
        if possible(case)
        and re.search(pattern, case.call)
        and re.search(faults, case.fault)
        and nodes in (0, case.nodes)
    ]


def wrong(case: Case, ended: Ended, grace: float) -> str:
    """What a survivor did not do or say; empty if all is well."""
    if ended.code != 3:
        return f"ended with {ended.code}: {ended.out[-300:]}{ended.err[-600:]}"
    head, _, text = ended.out.partition("\n")
    waited = float(head.split()[-1])
    if waited > LIMIT + grace:
        return f"waited {waited} s"
    said = SAID | SAID_CUT if case.fault == "link" else SAID
    words = [*who(case), *said.get(case.call, PLACE)]
    if case.fault == "raise" and case.call.startswith("commit"):
        # it is told, as any error of a save
        words = [f"saving: writing failed on rank {case.size - 1}", "program.py"]
    missing = [word for word in words if not re.search(word, text)]
    return f"does not say {missing}: {text}" if missing else ""


def who(case: Case) -> list[str]:
    """What names the rank that failed. Who was cut off may name any rank on the other side, or the store
    there, which knows no ranks.
    """
    last = case.size - 1
    if case.call == "store_get":  # rank 0 has the store, and ends
        return []
    if case.fault == "link":
        return [r"\branks? \d|the store at [\d.]+:\d+ has been silent"]
    return [rf"\branks? ([\d, ]*, )?{last}\b"]


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


@contextlib.contextmanager
def nodes_of(case: Case) -> Iterator[tuple[Node, ...]]:
    """The nodes that a case wants."""
    if case.nodes == 1:
        yield ()
        return
    with two_nodes() as made:
        yield made


def run_case(case: Case, grace: float) -> tuple[float, list[str]]:
    """The longest wait of a survivor in seconds, and what was wrong."""
    if case.call == "start":
        return run_start(case, grace)
    before = shared_memory()
    with tempfile.TemporaryDirectory() as folder, nodes_of(case) as nodes:
        cut = Path(folder) / "cut"
        with started(
            case.program(), case.size, nodes, PYTHONFAULTHANDLER="1", CUT=str(cut)
        ) as processes:
            if case.fault == "link":
                cut_wire(processes, nodes[1], cut)
            try:
                survivors = finish(processes[: case.survivors()], START + LIMIT + grace)
            except AssertionError as error:
                return float("inf"), [f"{error}\n{stacks(processes)}"]
            if case.fault == "stop":
                processes[-1].send_signal(signal.SIGCONT)
                processes[-1].kill()
    found = [w for e in survivors if (w := wrong(case, e, grace))]
    waits = [float(e.out.split()[1]) for e in survivors if e.code == 3]
    if left := still_there(shared_memory() - before):
        found.append(f"left in shared memory: {sorted(left)}")
    return max(waits, default=0.0), found


def cut_wire(processes: list[subprocess.Popen[str]], node: Node, cut: Path) -> None:
    """Once every rank waits for it."""
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()  # "ready", or nothing if it has failed
    node.link("down")
    cut.touch()


# ---- faults of the start ----

STARTS = ("port", "memory")
BEGIN = """
import time
start = time.monotonic()
try:
    dist.init_process_group("gloo", timeout=seconds({limit}))
    dist.all_reduce(taeda.ones(1 << 18))
except (dist.DistError, OSError) as error:
    print(type(error).__name__, round(time.monotonic() - start, 2))
    print(error)
    sys.exit(3)
"""
BEGIN_LIMIT = 10.0  # seconds: processes of a busy machine take some to start
TOLD = {"port": "MASTER_PORT|port|store", "memory": "/dev/shm|shared memory"}


@dataclass(frozen=True)
class SmallMemory(Node):
    """This machine with 64 kB of /dev/shm: the room of files that the process `keeper` sees."""

    keeper: int = 0

    def command(self, words: Sequence[str]) -> list[str]:
        return ["nsenter", "--mount", "--target", str(self.keeper), *words]


@contextlib.contextmanager
def small_memory() -> Iterator[tuple[Node, ...]]:
    room = "mount -t tmpfs -o size=64k tmpfs /dev/shm && echo made && read end"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(["unshare", "--mount", "sh", "-c", room], **pipes) as keeper:
        assert keeper.stdin is not None and keeper.stdout is not None
        keeper.stdout.readline()
        yield (SmallMemory("", "", "127.0.0.1", "", keeper.pid),)
        keeper.stdin.close()


def run_start(case: Case, grace: float) -> tuple[float, list[str]]:
    """A start that cannot go well: every rank says why."""
    room = small_memory() if case.fault == "memory" else contextlib.nullcontext(())
    found, waits = [], [0.0]
    with room as nodes, socket.create_server(("127.0.0.1", 0)) as taken:
        env = {"MASTER_PORT": str(taken.getsockname()[1])} if case.fault == "port" else {}
        with started(case.program(), case.size, nodes, **env) as processes:
            for rank, ended in enumerate(finish(processes, START + BEGIN_LIMIT + grace)):
                head, _, text = ended.out.partition("\n")
                if ended.code != 3 or not re.search(TOLD[case.fault], text):
                    found.append(
                        f"rank {rank} ended with {ended.code}: {ended.out}{ended.err[-600:]}"
                    )
                    continue
                waits.append(float(head.split()[-1]))
    if max(waits) > BEGIN_LIMIT + grace:
        found.append(f"waited {max(waits)} s")
    return max(waits), found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--calls", default="")
    parser.add_argument("--faults", default="")
    parser.add_argument(
        "--nodes", type=int, default=0, choices=(0, 1, 2), help="1, 2, or 0 for both"
    )
    parser.add_argument("--part", default="0/1", help="K/N: cases K, K + N, K + 2 N ...")
    parser.add_argument("--grace", type=float, default=5.0, help="seconds beyond the limit")
    options = parser.parse_args()
    part, parts = map(int, options.part.split("/"))
    chosen = cases(options.calls, options.faults, options.nodes)[part::parts]
    if reason := why_not():
        left_out = [case for case in chosen if case.nodes == 2 or case.fault == "memory"]
        chosen = [case for case in chosen if case not in left_out]
        print(f"{len(left_out)} cases are left out: {reason}")
    waits, findings, start = defaultdict(list), 0, time.monotonic()
    for number, case in enumerate(chosen, 1):
        waited, found = run_case(case, options.grace)
        waits[f"{case.fault} on {case.nodes}"].append(waited)
        for text in found:
            print(f"{case}: {text}", flush=True)
        findings += bool(found)
        if sys.stderr.isatty():
            print(f"\r{number} of {len(chosen)}: {case}        ", end="", file=sys.stderr)
    for fault, found in waits.items():
        print(f"{fault:12} {len(found):4} cases, longest wait {max(found):.2f} s")
    print(f"{len(chosen)} faults, {findings} findings, {time.monotonic() - start:.0f} s")
    return bool(findings)


if __name__ == "__main__":
    sys.exit(main())
