"""Names of an earlier interface do what they did."""

import sys
import warnings
from types import SimpleNamespace

import pytest

import taeda
from taeda import nn, onnx
from taeda.onnx.errors import OnnxExporterWarning


def dynamo_export(*args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return onnx.dynamo_export(*args, **kwargs)


def options(**given):
    return onnx.ExportOptions(fake_context=SimpleNamespace(), **given)  # nothing is verified


def test_dynamo_export_says_what_replaced_it():
    with pytest.warns(DeprecationWarning, match="onnx.export"):
        made = onnx.dynamo_export(nn.Linear(3, 2), taeda.ones(4, 3), export_options=options())
    assert made.model.inputs[0].sizes == [4, 3]


def test_sizes_differ_if_asked():
    made = dynamo_export(nn.ReLU(), taeda.ones(4, 3), export_options=options(dynamic_shapes=True))
    assert all(isinstance(size, str) for size in made.model.inputs[0].sizes)


def test_rules_of_a_registry_come_first():
    registry = onnx.OnnxRegistry(18)
    assert registry.is_registered_op("aten", "relu") and not registry.is_registered_op("a", "b")
    registry.register_op(lambda g, x: g.op("Mine", x), "aten", "relu", "default")
    assert len(registry.get_op_functions("aten", "relu", "default")) == 2
    made = dynamo_export(nn.ReLU(), taeda.ones(2), export_options=options(onnx_registry=registry))
    assert made.model.nodes[0].kind == "Mine" and made.model.opset == registry.opset_version == 18
    with pytest.raises(TypeError, match="register_op"):
        registry.register_op("no function", "aten", "relu")
    with pytest.raises(onnx.OnnxExporterError):
        registry.register_op(print, "a b", "relu")


def test_warnings_are_errors_if_asked():
    strict = onnx.DiagnosticOptions(warnings_as_errors=True)
    model = nn.Sequential(nn.Dropout()).train()
    with pytest.raises(OnnxExporterWarning, match="eval mode"):
        dynamo_export(model, taeda.ones(2), export_options=options(diagnostic_options=strict))


def test_what_was_made_is_printed_if_asked(capsys):
    said = onnx.DiagnosticOptions(verbosity_level=20)
    dynamo_export(nn.ReLU(), taeda.ones(2), export_options=options(diagnostic_options=said))
    assert "ONNXProgram" in capsys.readouterr().out


def test_a_model_without_memory_gets_its_weights_later(tmp_path):
    with onnx.enable_fake_mode() as context:
        model, x = nn.Linear(3, 2).eval(), taeda.ones(4, 3)
    assert model.weight.is_meta
    made = dynamo_export(model, x, export_options=onnx.ExportOptions(fake_context=context))
    with pytest.raises(ValueError, match="apply_weights"):
        made.save(tmp_path / "m.onnx")
    made.save(tmp_path / "m.onnx", include_initializers=False)
    made.apply_weights(nn.Linear(3, 2).state_dict())
    made.save(tmp_path / "m.onnx")


def test_options_of_onnxruntime_load_a_model(monkeypatch):
    seen = {}
    session = SimpleNamespace(InferenceSession=lambda path, **given: seen.update(given, path=path))
    monkeypatch.setitem(sys.modules, "onnxruntime", session)
    made = onnx.ONNXRuntimeOptions(session_options=["options"], execution_providers=["CUDA"])
    made("m.onnx")
    assert seen == {
        "path": "m.onnx", "sess_options": "options", "providers": ["CUDA"],
        "provider_options": None,
    }  # fmt: skip


def test_there_is_no_backend_of_onnxruntime():
    assert onnx.is_onnxrt_backend_supported() is False
