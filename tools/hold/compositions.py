"""What goes with sharding: the table of docs/sharding.md, made by trying it.

    python tools/hold/compositions.py            print it
    python tools/hold/compositions.py --write    into the page
    python tools/hold/compositions.py --check    1 if the page says something else

Each pair of {fully_shard, tensor parallelism, checkpoints} and a kind of program or of tensor is tried on
two ranks, which are threads: it gives the numbers of one process, or the sentence of its refusal.
"""

from __future__ import annotations

import argparse
import copy
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))

from rank_threads import on_threads

import taeda
import taeda.distributed as dist
import taeda.distributed.checkpoint as dcp
from taeda import Tensor, nn
from taeda.distributed.checkpoint.state_dict import get_model_state_dict
from taeda.distributed.fsdp import fully_shard
from taeda.distributed.tensor import DTensor
from taeda.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from taeda.quantization import int8_weight_only, quantize_

PAGE = Path(__file__).parents[2] / "docs" / "sharding.md"
HEAD = "| with | fully_shard | tensor parallelism | checkpoints |\n|---|---|---|---|\n"
REFUSALS = (RuntimeError, ValueError, TypeError, NotImplementedError, AssertionError)
WORDS = taeda.tensor([[1, 2, 2], [5, 0, 1]])

Way = Callable[[nn.Module, Any], nn.Module]


class Net(nn.Module):
    """Words and two layers."""

    def __init__(self, sparse: bool = False, dtype: Any = None) -> None:
        super().__init__()
        taeda.manual_seed(1)
        self.words = nn.Embedding(6, 4, sparse=sparse)
        self.up, self.down = nn.Linear(4, 6), nn.Linear(6, 4)
        self.to(dtype or taeda.float64)

    def forward(self, words: Tensor) -> Tensor:
        made: Tensor = self.down(self.up(self.words(words)).tanh())
        return made


def sharded(model: nn.Module, mesh: Any) -> nn.Module:
    """By fully_shard."""
    made: nn.Module = fully_shard(model, mesh=mesh)
    return made


def cut(model: nn.Module, mesh: Any) -> nn.Module:
    """By tensor parallelism."""
    plan = {"up": ColwiseParallel(), "down": RowwiseParallel(), "": ColwiseParallel()}
    found = {name: style for name, style in plan.items() if name and hasattr(model, name)}
    return parallelize_module(model, mesh, found or plan[""])


# ---- programs ----


def step(model: nn.Module, call: Callable[[nn.Module], Callable[..., Any]]) -> dict[str, Tensor]:
    """The parameters after a step."""
    optimizer = taeda.optim.SGD(model.parameters(), lr=0.1)
    loss = call(model)(WORDS).to(taeda.float64).square().sum()
    loss.backward()
    optimizer.step()
    return {
        name: p.detach().full_tensor() if isinstance(p, DTensor) else p.detach()
        for name, p in model.named_parameters()
    }


def trained(make: Callable[[], nn.Module], way: Way, call: Any = lambda model: model) -> str:
    """Train on one process, and on two."""
    wanted = step(make(), lambda model: model)
    models = [make() for _ in range(2)]

    def work(rank: int) -> bool:
        made = step(way(models[rank], dist.init_device_mesh("cpu", (2,))), call)
        pairs = [(made[name], value) for name, value in wanted.items()]
        return all(
            taeda.allclose(a.double(), b.double(), atol=1e-5 if b.dtype.itemsize > 2 else 2e-2)
            for a, b in pairs
        )

    return "works" if all(on_threads(2, work)) else "WRONG"


def exported(way: Way) -> str:
    """Export a model."""
    import taeda.export

    models = [Net() for _ in range(2)]

    def work(rank: int) -> None:
        taeda.export.export(way(models[rank], dist.init_device_mesh("cpu", (2,))), (WORDS,))

    on_threads(2, work)
    return "works"


def exported_module() -> nn.Module:
    """The module of an exported program."""
    import taeda.export

    made: nn.Module = taeda.export.export(Net(), (WORDS,)).module()
    return made


def packed() -> nn.Module:
    """A model whose layers are packed into 8 bits, and an embedding that learns."""
    taeda.manual_seed(1)
    model = nn.Sequential(nn.Embedding(6, 32), nn.Linear(32, 4))
    quantize_(model, int8_weight_only(), measure=False)
    return model


def packed_by(way: Way) -> str:
    """Train what is not packed in a model with packed layers."""
    if way is sharded:
        return trained(packed, way)
    model = packed()
    on_threads(2, lambda rank: cut(model[1], dist.init_device_mesh("cpu", (2,))))
    return "works"


# ---- checkpoints ----


def same(one: Any, other: Any) -> bool:
    """Equal tensors of one kind."""
    return type(one) is type(other) and taeda.equal(one, other)


def saved(value: Any) -> str:
    """Save, and load into another."""
    folder = tempfile.mkdtemp()
    dcp.save({"x": value}, checkpoint_id=folder, no_dist=True)
    state = {"x": taeda.zeros_like(value)}
    dcp.load(state, checkpoint_id=folder, no_dist=True)
    return "works" if same(state["x"], value) else "WRONG"


def saved_model(make: Callable[[], nn.Module], prepare: Any = lambda model: model) -> str:
    """Save the state of a model, and load it into a copy whose numbers are others."""
    model, folder = prepare(make()), tempfile.mkdtemp()
    dcp.save({"model": get_model_state_dict(model)}, checkpoint_id=folder, no_dist=True)
    other = prepare(copy.deepcopy(model))
    state = {"model": get_model_state_dict(other)}
    wanted = {name: value.clone() for name, value in state["model"].items()}
    with taeda.no_grad():
        for value in state["model"].values():
            value.zero_()
    dcp.load(state, checkpoint_id=folder, no_dist=True)
    return (
        "works" if all(same(state["model"][n].data, v.data) for n, v in wanted.items()) else "WRONG"
    )


# ---- kinds of tensors ----


class Tagged(Tensor):
    """A subclass without rules of its own."""


def kinds() -> dict[str, Callable[[], Any]]:
    """Kinds of tensors."""
    x = taeda.arange(16.0).view(4, 4) - 7
    return {
        "float64": lambda: x.double(),
        "bfloat16": lambda: x.bfloat16(),
        "float16": lambda: x.half(),
        "complex64": lambda: x + 1j * x,
        "a conjugate view": lambda: (x + 1j * x).conj(),
        "int8": lambda: x.to(taeda.int8),
        "bool": lambda: x > 0,
        "transposed": lambda: x.t(),
        "expanded": lambda: x[:1].expand(4, 4),
        "sparse COO": lambda: x.to_sparse(),
        "sparse CSR": lambda: x.to_sparse_csr(),
        "sparse CSC": lambda: x.to_sparse_csc(),
        "sparse BSR": lambda: x.to_sparse_bsr((2, 2)),
        "nested": lambda: taeda.nested.nested_tensor([x, x[:3]], layout=taeda.jagged),
        "masked": lambda: taeda.masked.masked_tensor(x, x > 0),
        "a subclass": lambda: x.as_subclass(Tagged),
        "meta": lambda: x.to("meta"),
    }


def placed(make: Callable[[], Any], way: Way) -> str:
    """A layer with a weight of this kind, which needs no gradient: cut, and put together again."""
    values = [make() for _ in range(2)]
    layers = [nn.Linear(4, 4, bias=False) for _ in range(2)]
    for layer, value in zip(layers, values, strict=True):
        layer.weight = nn.Parameter(value, requires_grad=False)

    def work(rank: int) -> bool:
        made = way(layers[rank], dist.init_device_mesh("cpu", (2,)))
        whole = made.weight.detach().full_tensor()
        return taeda.equal(whole, values[rank].detach())

    return "works" if all(on_threads(2, work)) else "WRONG"


def told(work: Callable[[], str]) -> str:
    """What it gives, or the first sentence of its refusal."""
    try:
        return work()
    except REFUSALS as error:
        text = str(error).strip().splitlines()
        line = next(
            (one for one in text if "rank 0: " in one), text[0] if text else type(error).__name__
        )
        line = re.sub(r"^rank 0: (\w+Error: )?|, from \S+|/tmp/\S+", "", line)
        return f"refused: {line}"[:220].replace("|", "/")


def table() -> str:
    """Try all pairs."""
    rows = [
        ("sparse gradients", *(told(lambda w=w: trained(lambda: Net(True), w)) for w in (sharded, cut)),
         told(lambda: saved_model(lambda: Net(True)))),
        ("`compile`", *(told(lambda w=w: trained(Net, w, taeda.compile)) for w in (sharded, cut)),
         told(lambda: saved_model(Net, taeda.compile))),
        ("`export`", *(told(lambda w=w: exported(w)) for w in (sharded, cut)),
         told(lambda: saved_model(exported_module))),
        ("quantized weights", *(told(lambda w=w: packed_by(w)) for w in (sharded, cut)),
         told(lambda: saved_model(packed))),
    ]  # fmt: skip
    for name, make in kinds().items():
        cells = (told(lambda w=w, make=make: placed(make, w)) for w in (sharded, cut))
        rows.append((name, *cells, told(lambda make=make: saved(make()))))
    for name, dtype in (("bfloat16", taeda.bfloat16), ("float16", taeda.float16)):
        cells = (
            told(lambda w=w, d=dtype: trained(lambda: Net(dtype=d), w)) for w in (sharded, cut)
        )
        rows.append(
            (f"training in {name}", *cells, told(lambda d=dtype: saved_model(lambda: Net(dtype=d))))
        )
    return HEAD + "".join("| " + " | ".join(row) + " |\n" for row in rows)


def main() -> int:
    """Print, write or check."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--share", action="store_true", help="what CI runs: all of it")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    made = table()
    print(made)
    page = PAGE.read_text()
    begin = page.index(HEAD)
    end = page.index("\n\n", begin) + 1
    if options.write:
        PAGE.write_text(page[:begin] + made + page[end:])
    elif options.check and page[begin:end] != made:
        print("docs/sharding.md says something else: python tools/hold/compositions.py --write")
        return 1
    return int("WRONG" in made)


if __name__ == "__main__":
    sys.exit(main())
