"""Models in onnxruntime: the vertical models at several sizes, and every rule with a sample."""

from __future__ import annotations

import numpy as np
import pytest
from control_models import CASES as CONTROL
from data_models import CASES as DATA
from onnx_samples import SAMPLES
from program_models import CASES, normal
from scalar_samples import SCALARS
from size_results import CASES as SIZED
from size_results import Of as Sized
from size_results import given as rows_of
from size_results import shapes

import taeda
from taeda import nn, onnx
from taeda.export import Dim, export
from taeda.export.graph_signature import OutputKind
from taeda.onnx._rules import RULES
from taeda.utils._pytree import tree_leaves

pytest.importorskip("onnxruntime", reason="onnxruntime is the other side")


@pytest.mark.parametrize("opset", [17, 20, 28])
@pytest.mark.parametrize("name", [n for n in CASES if n != "training"])
def test_models_give_our_numbers_at_every_size(name, opset):
    case = CASES[name]
    model = case.make().eval()
    made = onnx.export(
        model, case.given(1), dynamic_shapes=case.shapes, opset_version=opset, verify=False
    )
    for n in (1, 2, 5):
        same(made(*case.given(n)), model(*case.given(n)))


@pytest.mark.parametrize("name", CONTROL)
def test_branches_loops_and_scans_give_our_numbers(name):
    case = CONTROL[name]
    model = case.make().eval()
    made = onnx.export(model, case.given(4, 2), dynamic_shapes=case.shapes, verify=False)
    for n, m in ((4, 2), (7, 3), (1, 1)):
        same(made(*case.given(n, m)), model(*case.given(n, m)))


@pytest.mark.parametrize("name", DATA)
def test_sizes_that_data_decide_are_those_of_our_program(name):
    case = DATA[name]
    model = case.make()
    program = export(model, case.calls[0], dynamic_shapes=case.shapes)
    for target in program.graph.nodes:
        _SEEN.add(str(target.target).removeprefix("aten."))
    made = onnx.export(program, verify=True)
    for args in case.calls:
        if args[0].shape[0]:  # onnxruntime has no sum over nothing
            same(made(*args), model(*args))


@pytest.mark.filterwarnings("ignore:onnx.export. the program writes")
@pytest.mark.parametrize("name", SIZED)
def test_sizes_that_a_program_gives_are_outputs(name):
    program = export(Sized(SIZED[name]), (rows_of(4),), dynamic_shapes=shapes())
    made = onnx.export(program, verify=True)
    kinds = {int: taeda.int64, float: taeda.float64, bool: taeda.bool}
    for n in (4, 1, 2, 9):
        specs = program.graph_signature.output_specs
        leaves = iter(tree_leaves(Sized(SIZED[name])(rows_of(n))))
        mine = [s for s in specs if s.kind is OutputKind.USER_OUTPUT]
        wanted = [v for v, s in zip(leaves, mine, strict=True) if not hasattr(s.arg, "value")]
        tensors = [
            v if isinstance(v, taeda.Tensor) else taeda.tensor(v, dtype=kinds[type(v)])
            for v in wanted
        ]
        same(made(rows_of(n))[: len(tensors)], tensors)


def test_what_is_verified_is_compared_twice():
    case = CASES["recurrent"]
    made = onnx.export(case.make().eval(), case.given(2), dynamic_shapes=case.shapes)
    assert made.verify() == 2


def test_a_program_of_short_floats_is_compared_by_their_steps():
    class Halves(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(64, 8).half()

        def forward(self, x):
            return self.layer(x.half()).float()

    made = onnx.export(Halves().eval(), (normal(5, 64),), verify=True)
    assert made is not None


class Writes(nn.Module):
    """Statistics, a counter, a cache through a view, and an argument."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", taeda.zeros((), dtype=taeda.int64))
        self.register_buffer("cache", taeda.zeros(2, 6))
        self.norm, self.plain = nn.BatchNorm2d(3), nn.BatchNorm1d(3, affine=False)

    def forward(self, x):
        self.calls.add_(1)
        self.cache[:, 2:4] = x.mean()
        x[:, 0] = 0.5
        y = x * 2
        y[:, 1:, :1] += 1
        return self.norm(y) * self.calls, self.plain(y.flatten(2)), self.cache.sum()


def test_what_a_program_writes_are_outputs_that_the_next_call_is_given():
    model, x = Writes().train(), normal(4, 3, 2, 5)
    shapes = ({0: Dim("n", min=2), 3: Dim("w", min=2)},)
    made = export(model, (x.clone(),), dynamic_shapes=shapes)
    with pytest.warns(onnx.errors.OnnxExporterWarning, match="its last outputs"):
        program = onnx.export(made, verify=True)
    names = [port.name for port in program.model.outputs]
    for n, w in ((4, 5), (2, 3), (7, 2)):
        x = normal(n, 3, 2, w)
        got = dict(zip(names, program(x.clone()), strict=True))
        wanted = model(x)
        same([got.pop(name) for name in names[:3]], wanted)
        same([got.pop("new_x")], x)
        state = model.state_dict()
        assert {
            f"new_{name}" for name in state if "weight" not in name and "bias" not in name
        } == set(got)
        new = {name.removeprefix("new_"): value for name, value in got.items()}
        same(list(new.values()), [state[name] for name in new])
        program.apply_weights(new)


def test_a_wrong_rule_is_found():
    with pytest.raises(onnx.OnnxExporterError, match="differs by 1"):
        onnx.export(
            module(lambda x: x.abs()),
            (taeda.tensor([0.5, -0.5]),),
            custom_translation_table={taeda.ops.aten.abs.default: lambda g, x: g.op("Identity", x)},
        )


def test_external_weights_are_read(tmp_path):
    import onnxruntime

    model, x = nn.Linear(64, 64), normal(1, 64)
    path = tmp_path / "m.onnx"
    onnx.export(model.eval(), (x,), path, external_data=True, verify=False)
    session = onnxruntime.InferenceSession(str(path))
    (got,) = session.run(None, {session.get_inputs()[0].name: x.numpy()})
    same([taeda.from_numpy(got)], model(x))


def same(got, wanted):
    leaves = [v for v in tree_leaves(wanted) if isinstance(v, taeda.Tensor)]
    for a, b in zip(got, leaves, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape, (a, b)
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-4)


def module(f):
    class Made(nn.Module):
        def forward(self, *args):
            return f(*args)

    return Made().eval()


# ---- a sample of every rule ----

_SEEN: set[str] = set()


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_gives_our_numbers(name):
    f, args = SAMPLES[name]
    program = export(module(f), args)
    _SEEN.update(str(n.target).removeprefix("aten.") for n in program.graph.nodes)
    same(onnx.export(program, verify=False)(*args), f(*args))


@pytest.mark.parametrize("row", SCALARS)
def test_rows_along_a_scalar_give_our_numbers(row):
    f, args = SCALARS[row]
    same(onnx.export(module(f), args, verify=False)(*args), f(*args))


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("bias", [False, True])
def test_recurrent_layers_at_three_batches(layer, bidirectional, bias):
    model = layer(3, 4, 2, bidirectional=bidirectional, bias=bias).eval()
    shapes = ({0: Dim("t"), 1: Dim("n")},)
    program = export(model, (normal(5, 2, 3),), dynamic_shapes=shapes)
    _SEEN.update(str(n.target).removeprefix("aten.") for n in program.graph.nodes)
    made = onnx.export(program, verify=False)
    for t, n in ((5, 2), (1, 1), (7, 3)):
        same(made(normal(t, n, 3)), model(normal(t, n, 3)))


def test_every_rule_has_a_sample():
    if len(_SEEN) < 50:
        pytest.skip("the samples ran in another process, or not at all")
    left = sorted(row for row in set(RULES) - _SEEN if not row.startswith("onnx"))
    assert not left, " ".join(left)
