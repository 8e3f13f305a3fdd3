"""Collectives and a data-parallel step beside torch's gloo, in turns, on the same ranks:
`python benchmarks/distributed.py`.

Every rank holds a group of each library. They take turns, so both meet the same load; each figure
is the ratio of the medians, below 1 is faster. `--nodes 2` puts them on two network namespaces with
a wire between them, which needs root, and leaves out the steps. `--start --ranks 4` times the
start of processes up to the end of their first collective instead. The step's row is that of taeda's
time on the ranks over its time on one process with the same share of the batch, divided by the same
ratio of torch.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import timedelta

SIZES = {
    "4 B": 1,
    "1 KB": 256,
    "16 KB": 4096,
    "256 KB": 65536,
    "1 MB": 1 << 18,
    "16 MB": 1 << 22,
    "64 MB": 1 << 24,
}


def median_of_turns(
    calls: list[Callable[[], object]], meet: Callable[[], object], turns: int, times: int
) -> list[float]:
    """Microseconds of a call of each, in turns, with all ranks starting each turn together."""
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(turns):
        for call, kept in zip(calls, found, strict=True):
            meet()
            start = time.perf_counter()
            for _ in range(times):
                call()
            kept.append((time.perf_counter() - start) / times * 1e6)
    return [statistics.median(kept) for kept in found]


def show(name: str, ours: float, theirs: float) -> None:
    if os.environ["RANK"] == "0":
        print(f"{name:34} {ours:12.1f} {theirs:12.1f} {ours / theirs:8.2f}", flush=True)


def rank_main() -> None:
    import torch
    import torch.distributed as gloo

    import taeda
    import taeda.distributed as dist

    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    torch.set_num_threads(1)
    taeda.set_num_threads(1)
    dist.init_process_group("gloo", timeout=timedelta(seconds=120))
    port = int(os.environ["MASTER_PORT"]) + 1
    address = f"tcp://{os.environ['MASTER_ADDR']}:{port}"
    gloo.init_process_group("gloo", address, rank=rank, world_size=size)
    if rank == 0:
        print(f"{size} ranks; microseconds".ljust(34), f"{'taeda':>12} {'gloo':>12} {'ratio':>8}")
    for name, count in SIZES.items():
        ours, theirs = taeda.ones(count), torch.ones(count)
        calls = [lambda x=ours: dist.all_reduce(x), lambda x=theirs: gloo.all_reduce(x)]
        turns, times = (9, 20) if count <= 65536 else (7, 3)
        show(f"all_reduce {name}", *median_of_turns(calls, dist.barrier, turns, times))
    if "GLOO_SOCKET_IFNAME" not in os.environ:
        in_bucket(dist, gloo, taeda, torch)
    others(dist, gloo, taeda, torch, size)
    if "GLOO_SOCKET_IFNAME" in os.environ:
        return
    step(dist, gloo, taeda, torch, rank, size)


def in_bucket(dist, gloo, taeda, torch) -> None:
    """64 MB in memory that DistributedDataParallel reduces from."""
    from taeda.nn.parallel._buckets import build

    group = dist.group.WORLD
    (bucket,) = build(group, [taeda.empty(1 << 24)], [[0]])
    theirs = torch.ones(1 << 24)
    calls = [lambda: dist.all_reduce(bucket.buffer), lambda: gloo.all_reduce(theirs)]
    show("all_reduce 64 MB in a bucket", *median_of_turns(calls, dist.barrier, 7, 3))


def others(dist, gloo, taeda, torch, size) -> None:
    ratios = []
    for name, count in (("4 KB", 1024), ("1 MB", 1 << 18), ("16 MB", 1 << 22)):
        for kind in (
            "broadcast",
            "all_gather_into_tensor",
            "reduce_scatter_tensor",
            "all_to_all_single",
        ):
            calls = [
                call_of(kind, module, lib, count, size)
                for module, lib in ((dist, taeda), (gloo, torch))
            ]
            turns, times = (9, 10) if count <= 4096 else (5, 3)
            ours, theirs = median_of_turns(calls, dist.barrier, turns, times)
            ratios.append(ours / theirs)
            show(f"{kind} {name}", ours, theirs)
    if os.environ["RANK"] == "0":
        print(f"geometric mean of these: {statistics.geometric_mean(ratios):.2f}")


def call_of(kind, module, lib, count, size) -> Callable[[], object]:
    small, whole = lib.ones(count // size), lib.ones(count)
    return {
        "broadcast": lambda: module.broadcast(whole, 0),
        "all_gather_into_tensor": lambda: module.all_gather_into_tensor(whole, small),
        "reduce_scatter_tensor": lambda: module.reduce_scatter_tensor(small, whole),
        "all_to_all_single": lambda: module.all_to_all_single(lib.empty_like(whole), whole),
    }[kind]


def step(dist, gloo, taeda, torch, rank, size) -> None:
    """A step of a network of 2.1 million parameters, and one of a small GPT, alone and on all ranks."""
    from taeda.nn.parallel import DistributedDataParallel

    wraps = ((taeda, DistributedDataParallel), (torch, torch.nn.parallel.DistributedDataParallel))
    for name, make in (("four layers of 720", layers_step), ("small GPT", gpt_step)):
        steps = []
        for lib, wrap in wraps:
            lib.manual_seed(0)
            steps.append(make(lib, lambda model: model))
            steps.append(make(lib, lambda model, w=wrap: w(model, gradient_as_bucket_view=True)))
        for one in steps * 3:
            one()
        ours_alone, ours, theirs_alone, theirs = median_of_turns(steps, dist.barrier, 15, 2)
        show(f"{name}: step on one process", ours_alone, theirs_alone)
        show("  step on all ranks", ours, theirs)
        show("  times the one on one process", ours / ours_alone, theirs / theirs_alone)


def layers_step(lib, wrap) -> Callable[[], object]:
    layers = [part for _ in range(4) for part in (lib.nn.Linear(720, 720), lib.nn.GELU())]
    model = wrap(lib.nn.Sequential(*layers))
    x = lib.randn(256, 720)
    return step_of(lib, model, lambda: model(x).square().mean())


def gpt_step(lib, wrap) -> Callable[[], object]:
    """Four layers of width 128 with four heads, 64 characters of context, 16 texts a rank."""
    model = wrap(gpt(lib, vocabulary=96, width=128, layers=4, heads=4, context=64))
    text = lib.randint(0, 96, (16, 65))
    ce = lib.nn.functional.cross_entropy

    def loss():
        return ce(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())

    return step_of(lib, model, loss)


def gpt(lib, vocabulary: int, width: int, layers: int, heads: int, context: int):
    nn = lib.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(width) for _ in range(2)])
            self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, length, _ = x.shape
            parts = self.inputs(self.norms[0](x)).split(width, dim=2)
            q, k, v = (part.view(batch, length, heads, -1).transpose(1, 2) for part in parts)
            y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.output(y.transpose(1, 2).flatten(2))
            return x + self.narrow(nn.functional.gelu(self.wide(self.norms[1](x))))

    class Gpt(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(vocabulary, width)
            self.places = nn.Embedding(context, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

        def forward(self, text):
            places = self.places(lib.arange(text.shape[1]))
            return self.head(self.norm(self.blocks(self.words(text) + places)))

    return Gpt()


def step_of(lib, model, loss) -> Callable[[], object]:
    optimizer = lib.optim.SGD(model.parameters(), lr=1e-3)

    def run() -> None:
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()

    return run


START = """
import {lib}, {lib}.distributed as dist
{lib}.set_num_threads(1)
dist.init_process_group("gloo")
x = {lib}.ones(4)
dist.all_reduce(x)
assert x.tolist() == [dist.get_world_size()] * 4
"""


def start(ranks: int, turns: int = 5) -> None:
    """Seconds from starting the processes to the end of their first collective, in turns."""
    from ranks import environment, free_port

    found: dict[str, list[float]] = {"taeda": [], "torch": []}
    for lib in list(found) * (turns + 1):
        port, code = free_port(), START.format(lib=lib)
        begin = time.perf_counter()
        started = [
            subprocess.Popen([sys.executable, "-c", code], env=environment(rank, ranks, port))
            for rank in range(ranks)
        ]
        if any([process.wait() for process in started]):  # noqa: C419 - wait for all
            sys.exit(f"a process of {lib} failed")
        found[lib].append(time.perf_counter() - begin)
    ours, theirs = (statistics.median(kept[1:]) for kept in found.values())  # the first warms
    print(
        f"{ranks} processes and a first sum: {ours:.2f} s, torch {theirs:.2f} s, {ours / theirs:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--nodes", type=int, default=1, choices=(1, 2))
    parser.add_argument("--start", action="store_true", help="how long processes take to begin")
    options = parser.parse_args()
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools", "testing"))
    if options.start:
        start(options.ranks)
        return
    from nodes import two_nodes
    from ranks import environment, free_port

    port = free_port()
    with two_nodes() if options.nodes == 2 else contextlib.nullcontext(()) as nodes:
        started = []
        for rank in range(options.ranks):
            env = environment(rank, options.ranks, port, BENCH_RANK="1")
            command = [sys.executable, os.path.abspath(__file__)]
            if nodes:
                node = nodes[rank * len(nodes) // options.ranks]
                command = node.command(command)
                env.update(MASTER_ADDR=nodes[0].address, GLOO_SOCKET_IFNAME=node.device)
            started.append(subprocess.Popen(command, env=env))
        codes = [process.wait() for process in started]
    sys.exit(max(map(abs, codes)))


if __name__ == "__main__":
    rank_main() if "BENCH_RANK" in os.environ else main()
