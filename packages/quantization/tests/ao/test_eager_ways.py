"""What else is done with models works with models on integers, or is refused in a sentence: the second table
of docs/quantization.md, row by row.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import taeda
from taeda import nn
from taeda.ao import quantization as q

PAGE = Path(__file__).parents[4] / "docs" / "quantization.md"
pytestmark = pytest.mark.filterwarnings("ignore")
X = taeda.linspace(-1, 1, 3 * 64).view(3, 64)


def layers():
    taeda.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).eval()


def static():
    model = q.QuantWrapper(layers()).eval()
    model.qconfig = q.get_default_qconfig("x86")
    ready = q.prepare(model)
    ready(X)
    return q.convert(ready)


def dynamic():
    return q.quantize_dynamic(layers(), {nn.Linear})


MODELS: dict[str, Callable[[], nn.Module]] = {"static": static, "dynamic": dynamic}


def same(found, model):
    assert taeda.equal(found, model(X))


def compiled(model):
    same(taeda.compile(model)(X), model)


def with_gradients(model):
    model(X.clone().requires_grad_()).sum().backward()


def whole_graph(model):
    taeda.compile(model, fullgraph=True)(X)


def exported(model):
    same(taeda.export.export(model, (X,)).module()(X), model)


def saved(model):
    taeda.export.save(taeda.export.export(model, (X,)), io.BytesIO())


def in_onnx(model):
    taeda.onnx.export(model, (X,), io.BytesIO())


def traced(model):
    taeda.fx.symbolic_trace(model)(X)


def mapped(model):
    """Each sample is a call of its own: a dynamic layer sees the range of one."""
    want = taeda.stack([model(row[None])[0] for row in X])
    assert taeda.equal(taeda.func.vmap(model)(X), want)


def called_with(model):
    same(taeda.func.functional_call(model, {}, (X,)), model)


def cast(model):
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        found = model(X)
    same(found, model)


def pickled(model):
    file = io.BytesIO()
    taeda.save(model, file)
    file.seek(0)
    with pytest.raises(taeda.serialization.FormatError, match="classes are not loaded unless you"):
        taeda.load(file)
    file.seek(0)
    with pytest.warns(UserWarning, match="files that you trust only"):
        read = taeda.load(file, weights_only=False)
    assert taeda.equal(read(X), model(X))


def state(model):
    file = io.BytesIO()
    taeda.save(model.state_dict(), file)
    file.seek(0)
    want = model(X)
    model.load_state_dict(taeda.load(file))
    assert taeda.equal(model(X), want)


def sharded(model):
    from taeda.distributed.fsdp import fully_shard

    want = model(X)
    fully_shard(model)
    assert taeda.equal(model(X), want)


def replicated(model):
    nn.parallel.DistributedDataParallel(model)


def cut(model):
    from taeda.distributed.device_mesh import init_device_mesh
    from taeda.distributed.tensor.parallel import ColwiseParallel, parallelize_module

    name = next(name for name, part in model.named_modules() if "Linear" in type(part).__name__)
    parallelize_module(model, init_device_mesh("cpu", (1,)), {name: ColwiseParallel()})


def distributed_input(model):
    from taeda.distributed.device_mesh import init_device_mesh
    from taeda.distributed.tensor import Shard, distribute_tensor

    model(distribute_tensor(X, init_device_mesh("cpu", (1,)), [Shard(0)]))


def short(model):
    model(X.bfloat16())


def double(model):
    model(X.double())


READS = "reads the value of a tensor"
#: how the page calls it, what is done, and what a static and a dynamic model say ("": it works)
WAYS: dict[str, tuple[Callable[[nn.Module], None], str, str]] = {
    "`compile`": (compiled, "", ""),
    "gradients": (with_gradients, "does not require grad", "does not require grad"),
    "`compile(fullgraph=True)`": (whole_graph, "no graph of all", "no graph of all"),
    "`export`": (exported, READS, ""),
    "`export.save`": (saved, READS, "is no tensor"),
    "`onnx.export`": (in_onnx, READS, "has no rule for ONNX"),
    "`fx.symbolic_trace`": (traced, "control flow", "wanted float32, but got Proxy"),
    "`func.vmap`": (mapped, "", ""),
    "`func.functional_call`": (called_with, "", ""),
    "`autocast`, of float32": (cast, "", ""),
    "`save` of the whole model": (pickled, "", ""),
    "`save` of the state dict": (state, "", ""),
    "`fully_shard` (FSDP)": (sharded, "", ""),
    "`DistributedDataParallel`": (replicated, "is not needed", "is not needed"),
    "tensor parallelism": (cut, "is for Linear and Embedding", "is for Linear and Embedding"),
    "a `DTensor` as input": (distributed_input, "a DTensor and a plain", "a DTensor and a plain"),
    "bfloat16": (short, "only float32 is quantized", "wanted float32, but got taeda.bfloat16"),
    "float64": (double, "only float32 is quantized", "wanted float32, but got taeda.float64"),
}
_OF_PROCESSES = {sharded, replicated, cut, distributed_input}


@pytest.fixture
def one_process(tmp_path: Path) -> Iterator[None]:
    taeda.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1
    )
    yield
    taeda.distributed.destroy_process_group()


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("name", WAYS)
def test_it_works_or_says_why_not(name, kind, request):
    way, *refusals = WAYS[name]
    if way in _OF_PROCESSES:
        request.getfixturevalue("one_process")
    model, refusal = MODELS[kind](), refusals[list(MODELS).index(kind)]
    if not refusal:
        way(model)
    else:
        with pytest.raises(Exception, match=re.escape(refusal)):
            way(model)


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize(
    "way", [exported, saved, in_onnx, traced, compiled, whole_graph, mapped, cast]
)
def test_a_model_that_was_seen_first_by_a_tracer_stays_the_same(way, kind):
    """What layers keep of their weights is never made of tensors without numbers."""
    want, model = MODELS[kind]()(X), MODELS[kind]()
    with contextlib.suppress(Exception):  # the table says which of them refuse
        way(model)
    assert taeda.equal(model(X), want)


def test_the_page_says_the_same():
    part = PAGE.read_text().partition("| | static | dynamic |")[2]
    found = {line.split(" | ")[0].removeprefix("| "): line for line in part.splitlines()}
    for name, (_, *refusals) in WAYS.items():
        for cell, refusal in zip(found[name].strip(" |").split(" | ")[1:], refusals, strict=True):
            assert cell.startswith("refused" if refusal else "works"), name
