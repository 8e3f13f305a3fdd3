"""What else is done with models works with quantized ones, or is refused in a sentence: the table of
docs/quantization.md, row by row.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import taeda
from taeda import nn
from taeda.quantization import int4_weight_only, int8_weight_only, quantize_

PAGE = Path(__file__).parents[3] / "docs" / "quantization.md"
CONFIGS = [int8_weight_only(), int4_weight_only(symmetric=False)]
pytestmark = pytest.mark.filterwarnings("ignore")


def quantized(config):
    taeda.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8)).eval()
    quantize_(model, config, measure=False)
    return model


X = taeda.linspace(-1, 1, 3 * 64).view(3, 64)


def same(found, model):
    assert taeda.equal(found, model(X))


def compiled(model):
    same(taeda.compile(model)(X), model)


def gradients_compiled(model):
    a, b = X.clone().requires_grad_(), X.clone().requires_grad_()
    taeda.compile(model)(a).sum().backward()
    model(b).sum().backward()
    assert taeda.equal(a.grad, b.grad)


def whole_graph(model):
    taeda.compile(model, fullgraph=True)(X)


def exported(model):
    file = io.BytesIO()
    taeda.export.save(taeda.export.export(model, (X,)), file)
    file.seek(0)
    same(taeda.export.load(file).module()(X), model)


def in_onnx(model):
    taeda.onnx.export(model, (X,), io.BytesIO())


def traced(model):
    same(taeda.fx.symbolic_trace(model)(X), model)
    same(taeda.jit.trace(model, (X,))(X), model)


def mapped(model):
    same(taeda.func.vmap(model)(X), model)


def called_with(model):
    same(taeda.func.functional_call(model, model.state_dict(), (X,)), model)


def cast(model):
    with taeda.autocast("cpu", dtype=taeda.bfloat16):
        assert model(X).dtype == taeda.float32  # the dtype of the input stays
        assert model(X.bfloat16()).dtype == taeda.bfloat16


def pickled(model):
    file = io.BytesIO()
    taeda.save(model, file)
    file.seek(0)
    same(taeda.load(file, weights_only=False)(X), model)


def sharded(model):
    want = model(X)
    from taeda.distributed.fsdp import fully_shard

    fully_shard(model)
    assert taeda.equal(model(X), want)


def replicated(model):
    want = model(X)
    both = nn.parallel.DistributedDataParallel(model)
    assert taeda.equal(both(X), want)
    both(X).sum().backward()


def cut(model):
    from taeda.distributed.device_mesh import init_device_mesh
    from taeda.distributed.tensor.parallel import ColwiseParallel, parallelize_module

    parallelize_module(model, init_device_mesh("cpu", (1,)), {"0": ColwiseParallel()})


def distributed_input(model):
    from taeda.distributed.device_mesh import init_device_mesh
    from taeda.distributed.tensor import Shard, distribute_tensor

    model(distribute_tensor(X, init_device_mesh("cpu", (1,)), [Shard(0)]))


def other_dtype(model):
    model.double()(X.double())


#: how the page calls it, what is done, and what it says where it is refused ("": it works)
WAYS: dict[str, tuple[Callable[[nn.Module], None], str]] = {
    "`compile`": (compiled, ""),
    "`compile`, with gradients of the input": (gradients_compiled, ""),
    "`compile(fullgraph=True)`": (whole_graph, "there is no graph of all"),
    "`export`, saved and loaded": (exported, ""),
    "`onnx.export`": (in_onnx, "no rule for ONNX"),
    "`fx.symbolic_trace`, `jit.trace`": (traced, ""),
    "`func.vmap`": (mapped, ""),
    "`func.functional_call`": (called_with, ""),
    "`autocast`": (cast, ""),
    "`save` of the whole model, `pickle`": (pickled, ""),
    "`fully_shard` (FSDP)": (sharded, ""),
    "`DistributedDataParallel`": (replicated, ""),
    "tensor parallelism": (cut, "is for Linear and Embedding"),
    "a `DTensor` as input": (distributed_input, "got a DTensor and a plain Tensor"),
    "float64": (other_dtype, "must be of dtype float32, bfloat16 or float16"),
}
_OF_PROCESSES = {"`fully_shard` (FSDP)", "`DistributedDataParallel`", "tensor parallelism",
    "a `DTensor` as input"}  # fmt: skip


@pytest.fixture
def one_process(tmp_path: Path) -> Iterator[None]:
    taeda.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1
    )
    yield
    taeda.distributed.destroy_process_group()


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("name", WAYS)
def test_it_works_or_says_why_not(name, config, request):
    if name in _OF_PROCESSES:
        request.getfixturevalue("one_process")
    way, refusal = WAYS[name]
    model = quantized(config)
    if not refusal:
        way(model)
        return
    with pytest.raises(Exception, match=re.escape(refusal)):
        way(model)


def test_the_page_says_the_same():
    table = PAGE.read_text().partition("Models of eager mode")[0]  # theirs is another test's
    lines = [line for line in table.splitlines() if line.startswith("| ")]
    found = {line.split(" | ")[0].removeprefix("| "): line for line in lines}
    for name, (_, refusal) in WAYS.items():
        assert found[name].split(" | ")[1].startswith("refused" if refusal else "works"), name
