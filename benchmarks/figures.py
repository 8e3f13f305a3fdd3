"""Make `docs/figures.json`, which the charts of the site are drawn from, of what `run.py --json` wrote.

    python benchmarks/run.py --threads 1 --clock processor --json rows.json
    python benchmarks/figures.py rows.json

A case that is shown needs a line here; each has to be among the rows, so that no figure stays
behind when others are new.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FIGURES = Path(__file__).resolve().parents[1] / "docs" / "figures.json"

# chart: group of the benchmark: case: what the chart calls it
SHOWN: dict[str, dict[str, dict[str, str]]] = {
    "training": {
        "train": {
            "MLP 784-256-256-10, batch 64": "MLP 784-256-256-10",
            "CNN on 8 x 8, batch 64": "CNN on 8 x 8",
            "LSTM of 256 units, 48 steps, batch 32": "LSTM of 256 units",
            "GRU of 256 units, 48 steps, batch 32": "GRU of 256 units",
            "RNN of 256 units, 48 steps, batch 32": "RNN of 256 units",
            "ResNet-18 on 32 x 32, batch 8": "ResNet-18 on 32 x 32",
            "GPT of 3 layers, 96 wide, batch 8": "GPT of 3 layers, 96 wide",
        },
        "overhead": {"MLP of 10 layers, forward and backward": "MLP of 10 tiny layers"},
    },
    "calls": {
        "overhead": {
            "add": "add of 16 numbers",
            "add, gradient recorded": "add with gradient",
            "mul by a number": "mul by a number",
            "view": "view",
            "index": "index",
            "shape": "shape",
            "item": "item",
            "zeros": "zeros",
            "backward of (x*y+y).sum()": "backward of (x*y+y).sum()",
            "Linear 16 to 16, batch 1": "Linear(16, 16)",
        },
    },
    "optimizers": {
        "optim": {
            "SGD, 60 small": "SGD, 60 small tensors",
            "SGD, 6 large": "SGD, 6 large tensors",
            "Adam, 60 small": "Adam, 60 small",
            "Adam, 6 large": "Adam, 6 large",
            "AdamW, 60 small": "AdamW, 60 small",
            "AdamW, 6 large": "AdamW, 6 large",
            "clip_grad_norm_ within the limit, 6 large": "clip_grad_norm_, 6 large",
        },
    },
    "large": {
        "elementwise": {
            "add, 4 M": "add of 4 M",
            "add, 4 M bfloat16": "add of 4 M, bfloat16",
            "exp, 4 M": "exp of 4 M",
            "tanh, 4 M": "tanh of 4 M",
            "gelu, 4 M": "gelu of 4 M",
            "where, 4 M": "where of 4 M",
        },
        "reduction": {
            "sum, 4194304": "sum of 4 M",
            "sum of rows, 2048 x 1024": "sum of 2048 rows",
            "argmax of rows, 2048 x 1024": "argmax of 2048 rows",
            "softmax, 2048 x 1024": "softmax of 2048 rows",
            "layer_norm, 2048 x 768": "layer_norm of 2048 rows",
            "cumsum, 2048 x 1024": "cumsum of 2048 rows",
        },
        "matmul": {
            "1024": "product 1024 x 1024",
            "256 products of 32 x 64 times 64 x 32": "256 products 32 x 64",
            "matrix 2048 times vector": "2048 x 2048 times vector",
            "attention, 8 heads, 256 long, 64 wide": "attention, 8 heads",
        },
        "conv": {
            "3 x 3, 64 to 64, 28, and backward": "convolution 3 x 3, backward",
            "1 x 1, 256 to 64, 14": "convolution 1 x 1",
            "7 x 7 stride 2, 3 to 64, 112": "convolution 7 x 7, stride 2",
            "max pooling 2 x 2, 28, and backward": "max pooling, backward",
        },
        "fft": {"fft of 1 M": "fft of 1 M", "fft of 64, 4096 rows": "fft of 64, 4096 rows"},
    },
}


def main(paths: list[str]) -> None:
    rows = [row for path in paths for row in json.loads(Path(path).read_text())]
    ratios = {(row["group"], row["case"]): row["ratio"] for row in rows if "ratio" in row}
    wanted = [
        (chart, (group, case), name)
        for chart, groups in SHOWN.items()
        for group, cases in groups.items()
        for case, name in cases.items()
    ]
    if absent := [place for _, place, _ in wanted if place not in ratios]:
        sys.exit(f"not among the rows: {absent}")
    made = [
        {"group": chart, "case": name, "ratio": round(ratios[place], 2)}
        for chart, place, name in wanted
    ]
    made.sort(key=lambda row: (list(SHOWN).index(str(row["group"])), row["ratio"]))
    FIGURES.write_text("[\n" + ",\n".join(json.dumps(row) for row in made) + "\n]\n")


if __name__ == "__main__":
    main(sys.argv[1:])
