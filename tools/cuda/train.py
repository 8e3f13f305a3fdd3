"""A GPT in bfloat16 autocast, five steps of AdamW with clipping: loss, ms a step, peak memory and waits.

    train.py [--small] [--library torch]

With PyTorch on the device its numbers stand beside ours.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
import time
import warnings
from typing import Any

STEPS = 5


def model_of(lib: Any, layers: int, width: int, heads: int, words: int, length: int) -> Any:
    nn = lib.nn

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.one, self.two = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.mlp = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
            )

        def forward(self, x: Any) -> Any:
            b, t, c = x.shape
            parts = self.qkv(self.one(x)).view(b, t, 3, heads, c // heads).permute(2, 0, 3, 1, 4)
            y = nn.functional.scaled_dot_product_attention(*parts.unbind(0), is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, t, c))
            return x + self.mlp(self.two(x))

    class GPT(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.token, self.place = nn.Embedding(words, width), nn.Embedding(length, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(layers)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

        def forward(self, ids: Any) -> Any:
            places = lib.arange(ids.shape[1], device=ids.device)
            return self.head(self.norm(self.blocks(self.token(ids) + self.place(places))))

    return GPT()


def trained(lib: Any, small: bool) -> str:
    size = (2, 32, 2, 61, 16) if small else (12, 768, 12, 50304, 512)
    words, length, batch = size[3], size[4], 2 if small else 8
    lib.manual_seed(0)
    model = model_of(lib, *size).cuda()
    optimizer = lib.optim.AdamW(model.parameters(), lr=3e-4)
    ids = lib.randint(0, words, (batch, length + 1)).cuda()
    losses, times, waits = [], [], 0
    for step in range(STEPS):
        lib.cuda.synchronize()
        begin = time.perf_counter()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            lib.cuda.set_sync_debug_mode("warn" if step == STEPS - 1 else "default")
            with lib.autocast("cuda", dtype=lib.bfloat16):
                scores = model(ids[:, :-1])
                loss = lib.nn.functional.cross_entropy(
                    scores.flatten(0, 1).float(), ids[:, 1:].flatten()
                )
            optimizer.zero_grad()
            loss.backward()
            lib.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            lib.cuda.set_sync_debug_mode("default")
        waits = sum("synchroniz" in str(w.message) for w in said)
        lib.cuda.synchronize()
        times.append(time.perf_counter() - begin)
        losses.append(loss.item())
    peak = lib.cuda.max_memory_allocated() / 2**20
    best = 1000 * min(times[1:])
    curve = " ".join(f"{v:.3f}" for v in losses)
    assert losses[-1] < losses[0], f"the loss does not fall: {curve}"
    return f"loss {curve}; {best:.1f} ms a step, first {times[0]:.1f} s; peak {peak:.0f} MiB; waits {waits}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--alone", action="store_true", help="without PyTorch")
    parser.add_argument("--library", default="")
    options = parser.parse_args()
    if options.library:
        lib = importlib.import_module(options.library)
        print(f"{options.library}: {trained(lib, options.small)}", flush=True)
        return 0
    statuses = []
    for library in ["taeda"] + ["torch"] * (not options.alone):
        words = ["--small"] * options.small
        command = [sys.executable, "-W", "ignore", __file__, "--library", library, *words]
        statuses.append(subprocess.run(command, check=False).returncode)
    return int(statuses[0] != 0)


if __name__ == "__main__":
    sys.exit(main())
