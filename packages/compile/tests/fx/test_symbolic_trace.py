"""Programs and their traces give the same; what cannot be traced says where."""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest
from fx_programs import same

import taeda
import taeda.nn.functional as F
from taeda import fx, nn
from taeda.nn.functional import interpolate

fx.wrap("len")


@fx.wrap
def chosen(x, flag):
    return x + 1 if flag else x - 1


class Pair(NamedTuple):
    a: object
    b: object


def unpacked(x):
    first, second = x.unbind(0)
    third, fourth = (part * 2 for part in x.split(1))
    return Pair(first + third, [second, {"k": fourth}])


def sliced(x):
    return x[0:1, ..., None], x[..., x.shape[-1] - 1], x.mT, -(x**2), (x - 1).abs() @ x.T


def python_functions(x):
    y = F.normalize(x) + F.mse_loss(x, x * 2)
    return F.interpolate(y[None], scale_factor=2), interpolate(y[None], size=3), F.softmax(y, -1)


def makers(x):
    n = x.shape[0]
    y = taeda.zeros(n, 2, dtype=x.dtype) + taeda.arange(n).sum() + taeda.full((2,), n)
    return y + taeda.ones(2) * math.sqrt(x.shape[1]) + taeda.tensor([1.0, 2.0]), 2 - x, 2**x


def in_place(x):
    y = x.clone()
    z = y
    y += 1
    y[0] = 7.0
    y[:, 0:1].mul_(2)
    return z


def counted(x):
    size = x.shape[0]
    first = size
    size += 1
    return x * first + size


def awkward_literals(x):
    return (
        taeda.clamp(x, -math.inf, 1e300) + taeda.tensor(math.nan).nan_to_num(), x.to(taeda.float64),
        x.to("cpu"), taeda.zeros(1, device=taeda.device("cpu")), x.add(1, alpha=-2), 1j * x,
    )  # fmt: skip


def wrapped(x):
    return chosen(x, True) * len(x)


PROGRAMS = [
    unpacked,
    sliced,
    python_functions,
    makers,
    in_place,
    counted,
    awkward_literals,
    wrapped,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_traces_compute_what_programs_compute(program):
    x = taeda.tensor([[0.5, -1.0], [2.0, 0.25]])
    gm = fx.symbolic_trace(program)
    gm.graph.lint()
    same(gm(x.clone()), program(x.clone()))
    same(fx.Interpreter(gm).run(x.clone()), program(x.clone()))
    same(fx.Transformer(gm).transform()(x.clone()), program(x.clone()))


@pytest.mark.parametrize("training", [False, True])
def test_resnet(resnet, training):
    model = resnet.ResNet18(4).train(training)
    gm = fx.symbolic_trace(model)
    gm.graph.lint()
    x = taeda.randn(2, 3, 16, 16)
    buffers = {name: b.clone() for name, b in model.named_buffers()}
    wanted = model(x)
    after = {name: b.clone() for name, b in model.named_buffers()}
    for name, b in model.named_buffers():
        b.copy_(buffers[name])
    same(gm(x), wanted)
    same(dict(gm.named_buffers()), after)
    assert gm.state_dict().keys() == model.state_dict().keys()
    assert [n.name for n in gm.graph.nodes][-3:] == ["flatten", "head", "output"]


def test_gpt(gpt):
    model = gpt.GPT(gpt.Config(layers=2, width=32)).eval()
    gm = fx.symbolic_trace(model, {"targets": None})
    codes = taeda.arange(10).view(2, 5)
    same(gm(codes), model(codes))
    same(gm(codes[:, :3]), model(codes[:, :3]))
    with pytest.raises(AssertionError, match="targets has been specialized to have value None"):
        gm(codes, codes)
    trained = fx.symbolic_trace(gpt_loss := Scored(model))
    same(trained(codes, codes), gpt_loss(codes, codes))


class Scored(nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, codes, targets):
        scores, _ = self.model(codes)
        return F.cross_entropy(scores.flatten(0, 1), targets.flatten())


# ---- refusals, with the line of the program ----


# ---- tracers of one's own ----


class PathTracer(fx.Tracer):
    """Names every node by where it was made, as libraries for features do."""

    def __init__(self):
        super().__init__(autowrap_modules=(math,))
        self.here = ""
        self.paths = {}

    def call_module(self, m, forward, args, kwargs):
        before = self.here
        try:
            self.here = self.path_of_module(m)
            return super().call_module(m, forward, args, kwargs)
        finally:
            self.here = before

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, *_):
        proxy = super().create_proxy(kind, target, args, kwargs, name, type_expr)
        last = self.here.rpartition(".")[2]
        path = self.here if kind == "call_module" else f"{self.here}.{proxy.node.name}"
        self.paths[proxy.node] = path if last else proxy.node.name
        return proxy


def test_features_by_the_path_of_a_node(resnet):
    model = resnet.ResNet18(4).eval()
    tracer = PathTracer()
    graph = tracer.trace(model)
    by_path = {path: node for node, path in tracer.paths.items()}
    wanted = {"stages.1.0.bn1", "stages.2.1.add_5", "head"}
    assert wanted <= by_path.keys()
    old = graph.output_node()
    with graph.inserting_before(old):
        graph.output({path: by_path[path] for path in sorted(wanted)})
    graph.erase_node(old)
    graph.eliminate_dead_code()
    features = fx.GraphModule(tracer.root, graph, "Features")
    x = taeda.randn(1, 3, 16, 16)
    found = features(x)
    same(found["head"], model(x))
    assert found["stages.1.0.bn1"].shape == (1, 8, 8, 8)


class Whole(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return False


def test_a_tracer_may_see_into_every_module():
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.GELU()).eval()
    tracer = fx.Tracer()
    assert len(tracer.trace(model).find_nodes(op="call_module")) == 3
    linear = Whole().trace(model[0])
    assert [n.op for n in linear.nodes] == [
        "placeholder",
        "get_attr",
        "get_attr",
        "call_function",
        "output",
    ]
    gm = fx.GraphModule(model[0], linear)
    x = taeda.randn(2, 3)
    same(gm(x), model[0](x))


def test_parameters_and_tensors_of_a_module_are_attributes():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(taeda.tensor([1.0, 2.0]))
            self.register_buffer("b", taeda.tensor([3.0, 4.0]))
            self.plain = taeda.tensor([5.0, 6.0])

        def forward(self, x):
            return x * self.w + self.b + self.plain + taeda.tensor([7.0, 8.0])

    model = Model()
    gm = fx.symbolic_trace(model)
    x = taeda.ones(2)
    same(gm(x), model(x))
    targets = [n.target for n in gm.graph.find_nodes(op="get_attr")]
    assert targets == ["w", "b", "plain", "_tensor_constant0"]
    assert gm.w is model.w


def test_shapes_of_parameters_may_be_constants():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nn.Parameter(taeda.ones(3))

        def forward(self, x):
            return x * 2 if self.w.shape[0] == 3 else x

    gm = fx.GraphModule(model := Model(), fx.Tracer(param_shapes_constant=True).trace(model))
    assert gm(taeda.tensor(2.0)).item() == 4
