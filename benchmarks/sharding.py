"""Sharded tensors, sharded training and checkpoints beside PyTorch, on two processes of this machine.

    python benchmarks/sharding.py --torch FOLDER                 all of it, of 256 MB
    python benchmarks/sharding.py --torch FOLDER --only call     calls, step, small or large alone
    python benchmarks/sharding.py --torch FOLDER --only large --mb 1024

FOLDER holds an installed torch. Both run the same programs, taking turns; what is printed are medians
and ratios, of which less than 1 says that taeda is quicker.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

RANKS = 2
PARTS = ("call", "step", "small", "large")


def clock(work: Any, times: int) -> float:
    """The median of seconds that a call takes."""
    work()
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def measure(t: Any, name: str, only: str | None, megabytes: int) -> dict[str, float]:
    """All figures of one framework, on this rank."""
    dist = importlib.import_module(f"{name}.distributed")
    dcp = importlib.import_module(f"{name}.distributed.checkpoint")
    tensor = importlib.import_module(f"{name}.distributed.tensor")
    fsdp = importlib.import_module(f"{name}.distributed.fsdp")
    states = importlib.import_module(f"{name}.distributed.checkpoint.state_dict")
    mesh = dist.init_device_mesh("cpu", (RANKS,))
    parts: dict[str, Callable[[], dict[str, float]]] = {
        "call": lambda: _calls(t, tensor, mesh),
        "step": lambda: {"FSDP step, ms": _step(t, fsdp, mesh) * 1e3},
        "small": lambda: _many_small(t, fsdp, states, dcp, mesh),
        "large": lambda: _large(t, dcp, tensor, mesh, megabytes),
    }
    told: dict[str, float] = {}
    for part in PARTS if only is None else [only]:
        told.update(parts[part]())
    return told


def _calls(t: Any, tensor: Any, mesh: Any) -> dict[str, float]:
    """What a call on a DTensor takes beyond the same on its part."""
    x = tensor.distribute_tensor(t.ones(8, 8), mesh, [tensor.Shard(0)])
    local = t.ones(4, 8)

    def many(call: Any, value: Any) -> Any:
        def work() -> None:
            for _ in range(200):
                call(value)

        return work

    calls: dict[str, Any] = {
        "add": lambda v: v.add(v), "relu": lambda v: v.relu(), "sum": lambda v: v.sum(1),
        "t": lambda v: v.t(), "add_": lambda v: v.add_(v, alpha=0.0),
    }  # fmt: skip
    with t.no_grad():
        return {
            f"DTensor {name} beyond {name}, us": (
                (clock(many(call, x), 30) - clock(many(call, local), 30)) / 200 * 1e6
            )
            for name, call in calls.items()
        }


def _step(t: Any, fsdp: Any, mesh: Any) -> float:
    nn = t.nn

    class Block(nn.Module):  # type: ignore[misc]  # of either framework
        def __init__(self) -> None:
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(256), nn.LayerNorm(256)
            self.inputs, self.output = nn.Linear(256, 768), nn.Linear(256, 256)
            self.up, self.down = nn.Linear(256, 1024), nn.Linear(1024, 256)

        def forward(self, x: Any) -> Any:
            b, n, w = x.shape
            q, k, v = (
                part.view(b, n, 4, -1).transpose(1, 2)
                for part in self.inputs(self.norm1(x)).split(w, dim=2)
            )
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.output(y.transpose(1, 2).reshape(b, n, w))
            return x + self.down(nn.functional.gelu(self.up(self.norm2(x))))

    t.manual_seed(0)
    model = nn.Sequential(*(Block() for _ in range(6)))
    for block in model:
        fsdp.fully_shard(block, mesh=mesh)
    fsdp.fully_shard(model, mesh=mesh)
    optimizer = t.optim.AdamW(model.parameters(), lr=1e-3)
    x = t.randn(4, 64, 256)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return clock(step, 10)


def _many_small(t: Any, fsdp: Any, states: Any, dcp: Any, mesh: Any) -> dict[str, float]:
    """10 million numbers in 5,000 tensors."""
    model = t.nn.ModuleList(t.nn.Linear(2000, 1, bias=False) for _ in range(5000))
    holder = t.nn.Sequential(*model)
    begin = time.perf_counter()
    fsdp.fully_shard(holder, mesh=mesh)
    sharded = time.perf_counter()
    state = states.get_model_state_dict(holder)
    given = time.perf_counter()
    folder = os.environ["SHARDING_FOLDER"] + "/small"
    dcp.save(state, checkpoint_id=folder)
    return {
        "fully_shard of 5,000 tensors, s": sharded - begin,
        "state_dict of 5,000 tensors, s": given - sharded,
        "save of 5,000 tensors, s": time.perf_counter() - given,
    }


def _large(t: Any, dcp: Any, tensor: Any, mesh: Any, megabytes: int) -> dict[str, float]:
    """Tensors of 16 MB, saved by rows and loaded by columns."""
    place, count = tensor.distribute_tensor, megabytes // 16
    state = {f"w{n}": place(t.ones(2048, 2048), mesh, [tensor.Shard(0)]) for n in range(count)}
    other = {f"w{n}": place(t.zeros(2048, 2048), mesh, [tensor.Shard(1)]) for n in range(count)}
    folder = os.environ["SHARDING_FOLDER"] + "/large"
    told = {
        "save, s": clock(lambda: dcp.save(state, checkpoint_id=folder), 3),
        "load on another mesh, s": clock(lambda: dcp.load(other, checkpoint_id=folder), 3),
        "async_save, until it returns, s": _until_it_returns(dcp, state, folder),
        "a copy of a rank's share, s": clock(lambda: [v.to_local().clone() for v in state.values()], 3),
    }  # fmt: skip
    before = _bytes_read()
    dcp.load(other, checkpoint_id=folder)
    told["read by a rank, of what it needs"] = (_bytes_read() - before) / (
        megabytes * 2**20 / RANKS
    )
    return told


def _bytes_read() -> int:
    """What this process has asked the system for so far, files that were read before included."""
    with open("/proc/self/io") as file:
        return int(next(line for line in file if line.startswith("rchar")).split()[1])


def _until_it_returns(dcp: Any, state: Any, folder: str) -> float:
    """The median of three, each after the one before is done."""
    found = []
    for _ in range(4):
        begin = time.perf_counter()
        future = dcp.async_save(state, checkpoint_id=folder)
        found.append(time.perf_counter() - begin)
        future.result()
    return statistics.median(found[1:])


def _worker(name: str, only: str | None, megabytes: int) -> None:
    module = importlib.import_module(name)
    module.set_num_threads(1)
    dist = importlib.import_module(f"{name}.distributed")
    dist.init_process_group("gloo")
    told = measure(module, name, only, megabytes)
    if dist.get_rank() == 0:
        print(json.dumps(told))
    dist.barrier()
    dist.destroy_process_group()


def run(name: str, torch: str, only: str | None, megabytes: int) -> dict[str, float]:
    """The figures of a framework, from processes of their own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp()
    more = ["--mb", str(megabytes), *(["--only", only] if only else [])]
    workers = []
    for rank in range(RANKS):
        env = {
            **os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS),
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "SHARDING_FOLDER": folder,
            "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        if name == "torch":
            env["PYTHONPATH"] = torch
        workers.append(
            subprocess.Popen(
                [sys.executable, __file__, "--worker", name, *more],
                env=env,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
            )
        )
    outputs = [worker.communicate()[0] for worker in workers]
    shutil.rmtree(folder, ignore_errors=True)
    if any(worker.returncode for worker in workers):
        raise RuntimeError(f"{name} failed: {outputs}")
    made: dict[str, float] = json.loads(outputs[0].strip().splitlines()[-1])
    return made


def main() -> None:
    """Take turns, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--torch", help="the folder of an installed torch")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=PARTS, help="one part of it")
    parser.add_argument("--mb", type=int, default=256, help="the size of the large checkpoint")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _worker(options.worker, options.only, options.mb)
        return
    names = ["taeda", "torch"] if options.torch else ["taeda"]
    found: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(options.rounds):
        for name in names:
            found[name].append(run(name, options.torch or "", options.only, options.mb))
    for key in found["taeda"][0]:
        row = [statistics.median(one[key] for one in found[name]) for name in names]
        ratio = f"  ratio {row[0] / row[1]:.2f}" if len(row) > 1 else ""
        print(f"{key:45} " + "  ".join(f"{value:9.3f}" for value in row) + ratio)


if __name__ == "__main__":
    main()
