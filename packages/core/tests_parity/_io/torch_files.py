"""Objects for torch to save: dtypes, layouts, sharing, containers, modules and optimizers, by name.

python packages/core/tests_parity/_io/torch_files.py     writes the few that the default tests read
"""

from __future__ import annotations

import collections
import json
import sys
import warnings
from pathlib import Path

import numpy as np
import torch

KEPT = Path(__file__).parents[2] / "tests" / "_io" / "pt" / "files"
DTYPES = """bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64 complex32
complex64 complex128 float8_e4m3fn float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu"""


def numbers(name: str) -> torch.Tensor:
    """Two rows of three numbers of a dtype."""
    return torch.tensor([[1, 0, 2], [3, 4, 1]]).to(torch.float32).to(getattr(torch, name))


def shared() -> dict[str, object]:
    base = torch.arange(24.0)
    return {
        "base": base,
        "slice": base[4:9],
        "step": base[1::5],
        "matrix": base.view(4, 6),
        "turned": base.view(4, 6).t(),
        "again": base,
    }


def layouts() -> dict[str, torch.Tensor]:
    image = torch.arange(48.0).reshape(1, 3, 4, 4)
    return {
        "zero-dim": torch.tensor(3.5),
        "empty": torch.empty(0, 3),
        "expanded": torch.ones(1).expand(4),
        "channels last": image.contiguous(memory_format=torch.channels_last),
        "flipped": image.flip(0),
        "overlapping": torch.arange(6.0).as_strided((4, 3), (1, 1)),
        "conjugate": torch.tensor([1 + 2j, 3 - 1j]).conj(),
        "negative": torch._neg_view(torch.tensor([1.0, -2.0])),
        "imaginary": torch.tensor([1 + 2j, 3 - 1j]).conj().imag,
        "special": torch.tensor([float("nan"), float("inf"), -float("inf"), -0.0, 1e-45]),
        "rank nine": torch.ones(*[2] * 9),
    }


def marked() -> dict[str, torch.Tensor]:
    leaf = torch.ones(3, requires_grad=True)
    noted = torch.ones(2)
    noted.note = "kept"
    return {
        "leaf": leaf,
        "not leaf": (leaf * 2).detach().requires_grad_(),
        "parameter": torch.nn.Parameter(torch.arange(4.0)),
        "frozen": torch.nn.Parameter(torch.arange(4), requires_grad=False),
        "buffer": torch.nn.Buffer(torch.ones(2)),
        "noted": noted,
        "meta": torch.ones(2, 3, device="meta"),
    }


def containers() -> dict[object, object]:
    inner = [1, 2]
    return {
        "numbers": [
            0,
            1,
            -1,
            255,
            256,
            65536,
            2**31,
            -(2**31),
            2**63,
            -(2**100),
            1.5,
            float("inf"),
        ],
        "constants": (None, True, False, (), [], {}, ""),
        "texts": ["é", "漢字", "😀", "a" * 300, "\x00", "\ud800"],
        "bytes": [b"", b"abc\xff", b"x" * 300, bytearray(b"ab"), bytearray()],
        "sets": [set(), {1, "a", (2, 3)}, frozenset(), frozenset({1})],
        "complex": 1 - 2j,
        "ordered": collections.OrderedDict(b=1, a=2),
        "counter": collections.Counter("abca"),
        "default": collections.defaultdict(list, a=[1]),
        "size": torch.Size([2, 3]),
        "types": [torch.float32, torch.int8, torch.bfloat16, torch.strided],
        "device": torch.device("cpu"),
        "same list twice": [inner, inner],
        ("a", 1): {3: {2.5: {None: {True: "deep"}}}},
        "long tuple": tuple(range(50)),
        "many": {f"key {i}": i for i in range(1500)},
    }


def arrays() -> dict[str, object]:
    return {
        "scalars": [np.float32(1.5), np.float64(2.5), np.int64(-3), np.bool_(True)],
        "array": np.arange(6).reshape(2, 3),
        "turned": np.arange(6.0).reshape(2, 3).T,
        "other order": np.arange(3, dtype=">i4"),
        "empty": np.empty((0, 2), np.float16),
    }


class Block(torch.nn.Module):
    """Layers inside layers, with buffers and a parameter of its own."""

    def __init__(self, depth: int) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(2, 2, 3)
        self.norm = torch.nn.BatchNorm2d(2)
        self.scale = torch.nn.Parameter(torch.ones(2))
        self.register_buffer("seen", torch.zeros(1, dtype=torch.int64))
        if depth:
            self.inner = torch.nn.ModuleList([Block(depth - 1)])


MODULES = {
    "linear": lambda: torch.nn.Linear(2, 3),
    "conv": lambda: torch.nn.Conv1d(2, 3, 3, bias=False),
    "batch norm": lambda: torch.nn.BatchNorm1d(3),
    "embedding": lambda: torch.nn.Embedding(4, 3),
    "lstm": lambda: torch.nn.LSTM(2, 3, 2, bidirectional=True),
    "gru": lambda: torch.nn.GRU(2, 3),
    "attention": lambda: torch.nn.MultiheadAttention(4, 2),
    "transformer layer": lambda: torch.nn.TransformerEncoderLayer(4, 2, 8),
    "sequential": lambda: torch.nn.Sequential(torch.nn.Linear(1, 2), torch.nn.ReLU()),
    "tree": lambda: Block(2),
    "half": lambda: torch.nn.Linear(2, 3).half(),
    "bfloat16": lambda: torch.nn.Linear(2, 3).bfloat16(),
}
OPTIMIZERS = ["SGD", "Adam", "AdamW", "Adagrad", "Adadelta", "RMSprop", "Adamax", "NAdam", "RAdam"]


def trained(name: str) -> dict[str, object]:
    """What programs save: a model, its optimizer and scheduler after a step, and a generator's state."""
    torch.manual_seed(0)
    model = torch.nn.Linear(2, 3)
    options = {"momentum": 0.9} if name in ("SGD", "RMSprop") else {}
    optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.1, **options)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    model(torch.ones(4, 2)).square().sum().backward()
    optimizer.step()
    schedule.step()
    return {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "generator": torch.get_rng_state(),
        "epoch": 3,
        "best": 0.25,
    }


def tied() -> dict[str, object]:
    first = torch.nn.Linear(3, 3)
    second = torch.nn.Linear(3, 3)
    second.weight = first.weight
    return torch.nn.Sequential(first, second).state_dict()


def objects() -> dict[str, object]:
    """All of them, under names that are unique."""
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    made: dict[str, object] = {f"dtype {name}": numbers(name) for name in DTYPES.split()}
    made |= {f"turned {name}": numbers(name).t() for name in DTYPES.split()}
    made |= {f"layout {name}": value for name, value in layouts().items()}
    made |= {f"marked {name}": value for name, value in marked().items()}
    made |= {f"container {key}": value for key, value in containers().items()}
    made |= {f"numpy {name}": value for name, value in arrays().items()}
    made |= {f"module {name}": make().state_dict() for name, make in MODULES.items()}
    made |= {f"optimizer {name}": trained(name) for name in OPTIMIZERS}
    made |= {"shared": shared(), "tied": tied(), "all containers": containers()}
    made |= {"storage": torch.arange(3.0).untyped_storage(), "layouts": layouts()}
    return made


FORMS = {
    "zip": {},
    "legacy": {"_use_new_zipfile_serialization": False},
    "protocol 3": {"pickle_protocol": 3},
    "protocol 4": {"pickle_protocol": 4},
    "protocol 5": {"pickle_protocol": 5},
}
_KEPT = {
    "shared": ["shared", "dtype bfloat16", "layout conjugate"],
    "newer": ["dtype float8_e4m3fn", "dtype uint16"],
    "containers": ["all containers"],
    "training": [
        "optimizer Adam",
        "marked parameter",
        "marked noted",
        "numpy scalars",
        "numpy array",
    ],
}


def main() -> None:
    sys.path.insert(0, str(Path(__file__).parents[4] / "tools" / "testing"))
    from describe import describe

    every = objects()
    every["all containers"].pop("many")
    told = {}
    for name, parts in _KEPT.items():
        value = {part: every[part] for part in parts}
        value.get("optimizer Adam", {}).pop("generator", None)
        for form, options in FORMS.items():
            if form == "legacy" and name == "newer":
                continue  # torch writes these dtypes in that form and cannot read them back
            path = KEPT / f"{name}-{form.replace(' ', '-')}.pt"
            torch.save(value, path, **options)
            told[path.name] = describe(torch.load(path, weights_only=False), torch)
    (KEPT / "expected.json").write_text(json.dumps(told, separators=(",", ":")) + "\n")
    torch.save(torch.nn.Linear(1, 1), KEPT / "module.pt")


if __name__ == "__main__":
    main()
