"""What goes with sharding: `python tools/hold/compositions.py` prints the table of docs/sharding.md.

Each pair of {fully_shard, tensor parallelism, checkpoints} and a kind of tensor or of program is tried on
two ranks, which are threads: it gives the numbers of one process, or the sentence of its refusal.
"""

from __future__ import annotations

import copy
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
from taeda.distributed.fsdp import fully_shard
from taeda.distributed.tensor import DTensor
from taeda.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module


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


WORDS = taeda.tensor([[1, 2, 2], [5, 0, 1]])


def sharded(model: nn.Module, mesh: Any) -> nn.Module:
    """By fully_shard."""
    made: nn.Module = fully_shard(model, mesh=mesh)
    return made


def cut(model: nn.Module, mesh: Any) -> nn.Module:
    """By tensor parallelism."""
    return parallelize_module(model, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})


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


def trained(make: Callable[[], nn.Module], way: Any, call: Any = lambda model: model) -> str:
    """Train on one process, and on two."""
    wanted = step(make(), lambda model: model)
    models = [make() for _ in range(2)]

    def work(rank: int) -> bool:
        made = step(way(models[rank], dist.init_device_mesh("cpu", (2,))), call)
        pairs = [(made[name].double(), value.double()) for name, value in wanted.items()]
        near = 2e-2 if model_dtype(wanted) in (taeda.bfloat16, taeda.float16) else 1e-5
        return all(taeda.allclose(a, b, atol=near) for a, b in pairs)

    return "works" if all(on_threads(2, work)) else "WRONG"


def model_dtype(state: dict[str, Tensor]) -> Any:
    """The dtype of the first parameter."""
    return next(iter(state.values())).dtype


def saved(value: Any) -> str:
    """Save, and load."""
    folder = tempfile.mkdtemp()
    dcp.save({"x": value}, checkpoint_id=folder, no_dist=True)
    other = copy.deepcopy(value)
    state = {"x": other}
    dcp.load(state, checkpoint_id=folder, no_dist=True)
    return "works"


def exported(way: Any) -> str:
    """Export a model."""
    import taeda.export

    models = [Net() for _ in range(2)]

    def work(rank: int) -> None:
        taeda.export.export(way(models[rank], dist.init_device_mesh("cpu", (2,))), (WORDS,))

    on_threads(2, work)
    return "works"


def compiled(way: Any) -> str:
    """Compile the model."""
    return trained(Net, way, lambda model: taeda.compile(model))


def kinds() -> dict[str, Callable[[], Any]]:
    """Kinds of tensors."""
    x = taeda.randn(4, 4)
    return {
        "bfloat16": lambda: x.bfloat16(), "float16": lambda: x.half(), "complex64": lambda: x + 1j * x,
        "int8": lambda: (x * 10).to(taeda.int8), "bool": lambda: x > 0,
        "sparse COO": lambda: x.to_sparse(), "sparse CSR": lambda: x.to_sparse_csr(),
        "meta": lambda: x.to("meta"),
    }  # fmt: skip


def told(work: Callable[[], str]) -> str:
    """What it gives, or the first sentence of its refusal."""
    try:
        return work()
    except (RuntimeError, ValueError, TypeError, NotImplementedError, AssertionError) as error:
        text = str(error).strip().splitlines()
        line = next(
            (one for one in text if "rank 0: " in one), text[0] if text else type(error).__name__
        )
        return f"refused: {line.removeprefix('rank 0: ')}"[:170].replace("|", "/")


def main() -> None:
    """Try all pairs."""
    warnings.simplefilter("ignore")
    table: list[tuple[str, str, str, str]] = []
    table.append((
        "sparse gradients", told(lambda: trained(lambda: Net(True), sharded)),
        told(lambda: trained(lambda: Net(True), cut)),
        told(lambda: saved(taeda.eye(3).to_sparse()))))  # fmt: skip
    table.append(
        ("compile", told(lambda: compiled(sharded)), told(lambda: compiled(cut)), "not meant")
    )
    table.append(
        ("export", told(lambda: exported(sharded)), told(lambda: exported(cut)), "not meant")
    )
    for name, make in kinds().items():
        dtype = make().dtype
        trains = dtype.is_floating_point and name in ("bfloat16", "float16")
        both = [
            told(lambda way=way, kind=dtype: trained(lambda: Net(dtype=kind), way))
            if trains
            else _placed(make, way)
            for way in (sharded, cut)
        ]  # fmt: skip
        table.append((name, *both, told(lambda make=make: saved(make()))))  # type: ignore[arg-type]  # two
    print("| with | fully_shard | tensor parallelism | checkpoints |\n|---|---|---|---|")
    for row in table:
        print("| " + " | ".join(row) + " |")


def _placed(make: Callable[[], Any], way: Any) -> str:
    """A parameter of this kind that needs no gradient."""

    def build() -> nn.Module:
        layer = nn.Linear(4, 4, bias=False)
        layer.weight = nn.Parameter(make(), requires_grad=False)
        return layer

    layers = [told_build(build) for _ in range(2)]
    if isinstance(layers[0], str):
        return layers[0]

    def work(rank: int) -> str:
        mesh = dist.init_device_mesh("cpu", (2,))
        if way is sharded:
            fully_shard(layers[rank], mesh=mesh)
        else:
            parallelize_module(layers[rank], mesh, ColwiseParallel())
        whole = layers[rank].weight.detach().full_tensor()  # type: ignore[union-attr]  # a layer
        return "works" if whole.shape == (4, 4) else "WRONG"

    return told(lambda: on_threads(2, work)[0])


def told_build(build: Callable[[], Any]) -> Any:
    """The layer, or why there is none."""
    try:
        return build()
    except (RuntimeError, ValueError, TypeError, NotImplementedError) as error:
        return f"refused: {error}"[:170]


if __name__ == "__main__":
    main()
