"""`export`: what becomes a model, what is refused, and what is in the files."""

from __future__ import annotations

import functools
from contextlib import nullcontext

import pytest
from program_models import CASES, Convolutions

import taeda
from taeda import nn, onnx
from taeda.export import Dim, export


def function(f):
    class Made(nn.Module):
        def forward(self, *args):
            return f(*args)

    return Made().eval()


def exported(f, *args, **options):
    return onnx.export(function(f), args, verify=False, **options)


@functools.cache
def program(name):
    case = CASES[name]
    return export(case.make().eval(), case.given(2), dynamic_shapes=case.shapes)


@pytest.mark.parametrize("name", [n for n in CASES if n != "training"])
@pytest.mark.parametrize("opset", [17, 18, 20, 28])
def test_models_of_every_opset_read_only_what_is_there(name, opset):
    made = onnx.export(program(name), opset_version=opset, verify=False).model
    known = {"", *made.weights, *(p.name for p in made.inputs)}
    for node in made.nodes:
        assert known.issuperset(node.inputs), node
        assert not node.inputs or node.inputs[-1], "an empty input at the end kills onnxruntime"
        assert known.isdisjoint(node.outputs)
        known.update(node.outputs)
    assert known.issuperset(p.name for p in made.outputs)


def test_sizes_have_the_names_of_dims():
    batch = Dim("batch")
    model = function(lambda x: taeda.cat([x, x]))
    made = onnx.export(model, (taeda.ones(2, 3),), dynamic_shapes=({0: batch},), verify=False)
    assert made.model.inputs[0].sizes == ["batch", 3]
    assert made.model.outputs[0].sizes == ["2*batch", 3]
    made.rename_axes({"batch": "rows"})
    assert made.model.outputs[0].sizes == ["2*rows", 3]
    with pytest.raises(ValueError, match="'batch'"):
        made.rename_axes({"batch": "n"})


def test_classic_arguments_say_the_same(tmp_path):
    path = tmp_path / "m.onnx"
    axes = {"image": {0: "n"}, "answer": {0: "n"}}
    names = {"input_names": ["image"], "output_names": ["answer"]}
    model = nn.Linear(3, 2)
    none = onnx.export(
        model, taeda.ones(4, 3), path, dynamo=False, dynamic_axes=axes, verify=False, **names
    )
    assert none is None
    assert b"image" in path.read_bytes() and b"answer" in path.read_bytes()
    with pytest.raises(TypeError, match="path"):
        onnx.export(model, taeda.ones(4, 3), dynamo=False)


def test_modes_are_those_of_before_and_one_warning_says_so():
    model = Convolutions()
    model.pool.eval()
    before = [m.training for m in model.modules()]
    assert len(set(before)) == 2
    with pytest.warns(UserWarning, match="eval mode"):
        onnx.export(model, CASES["training"].given(2), verify=False)
    assert [m.training for m in model.modules()] == before


@pytest.mark.parametrize("dynamo", [True, False])
def test_modes_are_put_back_by_both_exporters_also_after_an_error(dynamo, tmp_path):
    class Fails(Convolutions):
        def forward(self, x):
            return super().forward(x).lgamma()

    for kind, fails in ((Convolutions, False), (Fails, True)):
        model = kind()
        model.pool.eval()
        before = [m.training for m in model.modules()]
        expected = pytest.raises(onnx.OnnxExporterError, match="lgamma") if fails else nullcontext()
        with pytest.warns(UserWarning, match="eval mode"), expected:
            onnx.export(
                model, CASES["training"].given(2), tmp_path / "m.onnx", dynamo=dynamo, verify=False
            )
        assert [m.training for m in model.modules()] == before


def test_a_trace_knows_that_it_is_one():
    seen = []
    exported(lambda x: (seen.append(onnx.is_in_onnx_export()), x + 1)[1], taeda.ones(2))
    assert seen and all(seen)
    assert not onnx.is_in_onnx_export()


def test_a_write_in_place_is_a_new_value():
    made = exported(lambda x: (x * 2).relu_().add_(1), taeda.ones(2))
    assert [n.kind for n in made.model.nodes] == ["Mul", "Relu", "Add"]


def seen_through_a_view(x):
    y = x * 2
    y[0].fill_(3)
    return y


def seen_by_a_view(x):
    y = x * 2
    z = y.view(-1)
    y.add_(1)
    return z + 1


@pytest.mark.parametrize("f", [seen_through_a_view, seen_by_a_view])
def test_a_write_that_another_tensor_sees_is_a_new_value_of_both(f):
    made = exported(f, taeda.ones(2, 2))
    assert [p.name for p in made.model.outputs] == [
        made.exported_program.graph_signature.user_outputs[0]
    ]


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("calls", taeda.zeros((), dtype=taeda.int64))
        self.norm = nn.BatchNorm1d(3)

    def forward(self, x):
        self.calls.add_(1)
        x[:, 0] = 0.5
        return self.norm(x) * self.calls


def test_what_a_program_writes_are_outputs_behind_its_results_and_one_warning_says_so():
    model = Counts().train()
    with pytest.warns(onnx.errors.OnnxExporterWarning, match="writes calls, norm.running_mean"):
        made = onnx.export(
            model, (taeda.ones(4, 3),), training=onnx.TrainingMode.PRESERVE, verify=False
        )
    first, *written = [p.name for p in made.model.outputs]
    assert not first.startswith("new_") and written == [
        "new_calls", "new_norm.running_mean", "new_norm.running_var",
        "new_norm.num_batches_tracked", "new_x",
    ]  # fmt: skip
    assert model.training and not model.calls and model.norm.running_mean.equal(taeda.zeros(3))


def test_a_row_without_a_rule_is_named():
    with pytest.raises(onnx.OnnxExporterError, match=r"lgamma.*no rule"):
        exported(lambda x: x.lgamma(), taeda.ones(2))


def test_rules_of_the_user_come_first():
    f, x = (lambda x: x.lgamma()), taeda.ones(2)
    table = {taeda.ops.aten.lgamma.default: lambda g, x: g.op("Mine", x)}
    assert exported(f, x, custom_translation_table=table).model.nodes[0].kind == "Mine"
    onnx.register_custom_op_symbolic("aten::lgamma", lambda g, x: g.op("Later", x), 18)
    try:
        assert exported(f, x).model.nodes[0].kind == "Later"
        with pytest.raises(onnx.OnnxExporterError):
            exported(f, x, opset_version=17)
    finally:
        onnx.unregister_custom_op_symbolic("aten::lgamma", 18)
    with pytest.raises(onnx.OnnxExporterError, match="custom::gelu"):
        onnx.register_custom_op_symbolic("lgamma", print, 18)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"opset_version": 16}, ValueError),
        ({"opset_version": 29}, ValueError),
        ({"opset_version": 20.0}, ValueError),
        ({"input_names": ["a", "b"]}, ValueError),
        ({"output_names": ["a", "b"]}, ValueError),
        ({"training": onnx.TrainingMode.TRAINING}, NotImplementedError),
        ({"operator_export_type": onnx.OperatorExportTypes.ONNX_ATEN}, ValueError),
        ({"export_modules_as_functions": True}, NotImplementedError),
        ({"dynamic_axes": {}, "dynamic_shapes": ({},)}, ValueError),
    ],
)
def test_arguments_that_are_none(options, error):
    with pytest.raises(error):
        exported(lambda x: x + 1, taeda.ones(2), **options)


def test_weights_lie_beside_the_model_if_asked(tmp_path):
    model = nn.Linear(64, 64)
    path = tmp_path / "m.onnx"
    onnx.export(model, (taeda.ones(1, 64),), path, external_data=True, verify=False)
    beside = (tmp_path / "m.onnx.data").read_bytes()
    assert model.weight.detach().numpy().tobytes() in beside
    assert len(path.read_bytes()) < 1500


def test_weights_are_taken_and_others_refused():
    made = onnx.export(nn.Linear(2, 2), (taeda.ones(1, 2),), verify=False)
    made.apply_weights({"bias": taeda.ones(2)})
    assert made.model.weights["bias"].tolist() == [1, 1]
    for wrong in ({"bias": taeda.ones(3)}, {"other": taeda.ones(2)}):
        with pytest.raises(ValueError, match="apply_weights"):
            made.apply_weights(wrong)


def test_a_failed_export_leaves_the_old_file(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_text("old")
    with pytest.raises(onnx.OnnxExporterError):
        onnx.export(function(lambda x: x.lgamma()), (taeda.ones(2),), path)
    assert path.read_text() == "old"
