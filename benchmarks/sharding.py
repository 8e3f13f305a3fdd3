"""Sharded tensors, sharded training and checkpoints beside PyTorch, on two processes of this machine.

    python benchmarks/sharding.py --torch FOLDER

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
from typing import Any

RANKS = 2


def clock(work: Any, times: int) -> float:
    """The median of seconds that a call takes."""
    work()
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def measure(t: Any, name: str) -> dict[str, float]:
    """All figures of one framework, on this rank."""
    dist = importlib.import_module(f"{name}.distributed")
    dcp = importlib.import_module(f"{name}.distributed.checkpoint")
    tensor = importlib.import_module(f"{name}.distributed.tensor")
    fsdp = importlib.import_module(f"{name}.distributed.fsdp")
    states = importlib.import_module(f"{name}.distributed.checkpoint.state_dict")
    mesh = dist.init_device_mesh("cpu", (RANKS,))
    told: dict[str, float] = {}

    whole = t.ones(8, 8)
    x = tensor.distribute_tensor(whole, mesh, [tensor.Shard(0)])
    local = t.ones(4, 8)

    def many(value: Any) -> Any:
        def work() -> None:
            for _ in range(200):
                value.add(value)

        return work

    with t.no_grad():
        told["DTensor add beyond add, us"] = (
            (clock(many(x), 30) - clock(many(local), 30)) / 200 * 1e6
        )

    told["FSDP step, ms"] = _step(t, fsdp, mesh) * 1e3
    told.update(_many_small(t, fsdp, states, dcp, mesh))
    told.update(_large(t, dcp, tensor, mesh))
    return told


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


def _large(t: Any, dcp: Any, tensor: Any, mesh: Any) -> dict[str, float]:
    """256 MB in 16 tensors, saved by rows and loaded by columns."""
    place = tensor.distribute_tensor
    state = {f"w{n}": place(t.ones(2048, 2048), mesh, [tensor.Shard(0)]) for n in range(16)}
    other = {f"w{n}": place(t.zeros(2048, 2048), mesh, [tensor.Shard(1)]) for n in range(16)}
    folder = os.environ["SHARDING_FOLDER"] + "/large"
    return {
        "save of 256 MB, s": clock(lambda: dcp.save(state, checkpoint_id=folder), 3),
        "load of 256 MB on another mesh, s": clock(lambda: dcp.load(other, checkpoint_id=folder), 3),
        "async_save of 256 MB, until it returns, s": _until_it_returns(dcp, state, folder),
        "a copy of a rank's 128 MB, s": clock(lambda: [v.to_local().clone() for v in state.values()], 3),
    }  # fmt: skip


def _until_it_returns(dcp: Any, state: Any, folder: str) -> float:
    """The median of three, each after the one before is done."""
    found = []
    for _ in range(4):
        begin = time.perf_counter()
        future = dcp.async_save(state, checkpoint_id=folder)
        found.append(time.perf_counter() - begin)
        future.result()
    return statistics.median(found[1:])


def _worker(name: str) -> None:
    module = importlib.import_module(name)
    module.set_num_threads(1)
    dist = importlib.import_module(f"{name}.distributed")
    dist.init_process_group("gloo")
    told = measure(module, name)
    if dist.get_rank() == 0:
        print(json.dumps(told))
    dist.barrier()
    dist.destroy_process_group()


def run(name: str, torch: str) -> dict[str, float]:
    """The figures of a framework, from processes of their own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = tempfile.mkdtemp()
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
            subprocess.Popen([sys.executable, __file__, "--worker", name], env=env,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        )  # fmt: skip
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
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        _worker(options.worker)
        return
    names = ["taeda", "torch"] if options.torch else ["taeda"]
    found: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(options.rounds):
        for name in names:
            found[name].append(run(name, options.torch or ""))
    for key in found["taeda"][0]:
        row = [statistics.median(one[key] for one in found[name]) for name in names]
        ratio = f"  ratio {row[0] / row[1]:.2f}" if len(row) > 1 else ""
        print(f"{key:45} " + "  ".join(f"{value:9.3f}" for value in row) + ratio)


if __name__ == "__main__":
    main()
