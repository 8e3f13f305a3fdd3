"""Memory of a rank under DDP, shards, and shards with tensor parallelism, over one training step.

    python benchmarks/sharding_memory.py                    figures
    python benchmarks/sharding_memory.py --svg docs/images  and pictures of what a rank holds over a step

Eight blocks of 2 M parameters on two processes (four for the third), tiny activations, AdamW. What is
taken is read from `memory_stats` behind every block of the forward, behind every gradient that is
accumulated, and around the step. A unit is the whole parameters of a block.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tools" / "testing"))

BLOCKS, WIDTH = 8, 512
WAYS = {"ddp": 2, "fsdp": 2, "fsdp, ahead": 2, "fsdp and tp": 4}
UNIT = 4 * (2 * 4 * WIDTH * WIDTH + 5 * WIDTH)  # bytes of a block's parameters
MB = 1e6


def train(way: str) -> dict[str, Any]:
    """What a rank holds over its third step, in bytes, and what it holds between steps."""
    import taeda
    import taeda.distributed as dist
    from taeda import nn
    from taeda._core_api.runtime import memory_stats
    from taeda.distributed.fsdp import fully_shard
    from taeda.distributed.tensor.parallel import (
        ColwiseParallel,
        RowwiseParallel,
        parallelize_module,
    )

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

        def forward(self, x: Any) -> Any:
            return x + self.down(self.up(x).relu())

    before = memory_stats()["allocated"]
    taeda.set_num_threads(1)
    model: Any = nn.Sequential(*(Block() for _ in range(BLOCKS)))
    if way == "ddp":
        model = nn.parallel.DistributedDataParallel(model)
    else:
        mesh = dist.init_device_mesh(
            "cpu", (2, dist.get_world_size() // 2), mesh_dim_names=("dp", "tp")
        )
        if way == "fsdp and tp":
            plan = {"*.up": ColwiseParallel(), "*.down": RowwiseParallel()}
            parallelize_module(model, mesh["tp"], plan)
        for block in model:
            fully_shard(block, mesh=mesh["dp"])
        fully_shard(model, mesh=mesh["dp"])
        if way == "fsdp, ahead":
            for one, other in zip(model, list(model)[1:], strict=False):
                one.set_modules_to_forward_prefetch([other])
                other.set_modules_to_backward_prefetch([one])
    optimizer = taeda.optim.AdamW(model.parameters(), lr=1e-3)
    points: list[tuple[str, int]] = []

    def note(where: str) -> None:
        points.append((where, memory_stats()["allocated"] - before))

    for module in getattr(model, "module", model):
        module.register_forward_hook(lambda *_: note("forward"))
    for param in model.parameters():
        param.register_post_accumulate_grad_hook(lambda _: note("backward"))
    x, peak, rest = taeda.ones(2, WIDTH), 0, 0
    for _ in range(3):
        points.clear()
        optimizer.zero_grad()
        rest = memory_stats()["allocated"] - before
        taeda._core_api.runtime.memory_reset_peak()
        note("begin")
        model(x).square().mean().backward()
        peak = memory_stats()["peak"] - before
        note("step")
        optimizer.step()
        note("end")
    return {"points": points, "peak": peak, "rest": rest}


def run(way: str) -> dict[str, Any]:
    """The figures of rank 0."""
    from ranks import free_port

    port, workers = free_port(), []
    for rank in range(WAYS[way]):
        env = {
            **os.environ, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(WAYS[way]),
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        command = [sys.executable, __file__, "--worker", way]
        workers.append(subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True))
    outputs = [worker.communicate(timeout=300)[0] for worker in workers]
    if any(worker.returncode for worker in workers):
        raise RuntimeError(f"{way} failed: {outputs}")
    made: dict[str, Any] = json.loads(outputs[0].strip().splitlines()[-1])
    return made


def picture(way: str, told: dict[str, Any], most: float) -> str:
    """An SVG of what a rank holds over a step."""
    width, height, left, top = 480, 170, 48, 12
    points = told["points"]
    step = (width - left - 8) / max(1, len(points) - 1)
    across = [left + step * n for n in range(len(points))]
    down = [top + (height - top - 24) * (1 - size / most) for _, size in points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True))
    floor = height - 24
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'font-family="sans-serif" font-size="12" role="img" aria-label="Memory of a rank: {way}">'
        ),
        f'<polygon points="{left},{floor} {line} {width - 8},{floor}" fill="#2f8f6b" opacity="0.35"/>',
        f'<polyline points="{line}" fill="none" stroke="#2f8f6b" stroke-width="2"/>',
    ]
    for size in range(0, int(most / MB) + 1, 50):
        y = top + (height - top - 24) * (1 - size * MB / most)
        parts.append(
            f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end" fill="#808890">{size}</text>'
        )
        parts.append(
            f'<line x1="{left}" x2="{width - 8}" y1="{y:.1f}" y2="{y:.1f}" stroke="#808890" '
            'stroke-width="0.5" stroke-dasharray="2 4"/>'
        )
    seen: set[str] = set()
    for (name, _), x in zip(points, across, strict=True):
        if name not in seen and name != "begin":
            parts.append(f'<text x="{x:.1f}" y="{height - 8}" fill="#808890">{name}</text>')
        seen.add(name)
    return "\n".join([*parts, "</svg>"]) + "\n"


def main() -> None:
    """Measure, and print or draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--svg", type=Path, help="a folder for the pictures")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        import taeda.distributed as dist

        dist.init_process_group("gloo")
        told = train(options.worker)
        if dist.get_rank() == 0:
            print(json.dumps(told))
        dist.barrier()
        dist.destroy_process_group()
        return
    whole = 4 * BLOCKS * UNIT  # parameters, gradients, two states
    found = {way: run(way) for way in WAYS}
    most = max(max(size for _, size in told["points"]) for told in found.values()) * 1.05
    for way, told in found.items():
        share = whole / WAYS[way] if way != "ddp" else whole
        unit = UNIT / (2 if way == "fsdp and tp" else 1)
        beyond = (told["peak"] - share) / unit
        held = f"{told['rest'] / MB:6.1f} MB between steps, peak {told['peak'] / MB:6.1f} MB"
        print(
            f"{way:12} of {WAYS[way]}: {held}; "
            f"(parameters + gradients + states) / ranks {share / MB:6.1f} MB {beyond:+.2f} units"
        )
        if options.svg:
            name = way.replace(", ", "-").replace(" ", "-")
            (options.svg / f"memory-{name}.svg").write_text(picture(way, told, most))


if __name__ == "__main__":
    main()
