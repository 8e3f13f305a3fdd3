"""`JitScalarType`: a number, two names, a dtype and ONNX's number for each type."""

import pytest

import taeda
from taeda.onnx import JitScalarType, OnnxExporterError, TensorProtoDataType
from taeda.onnx._dtypes import CODES


@pytest.mark.parametrize("number", [n for n in JitScalarType if n.name != "UNDEFINED"])
def test_a_type_is_found_by_its_dtype(number):
    dtype = number.dtype()
    assert JitScalarType.from_dtype(dtype) is number
    if number.name in ("QINT8", "QUINT8", "QINT32"):  # no plain tensor has them
        pytest.importorskip("taeda.quantization")
        value = taeda.quantize_per_tensor(taeda.zeros(1), 1.0, 0, dtype)
    else:
        value = taeda.empty(0, dtype=dtype, device="meta")
    assert JitScalarType.from_value(value) is number
    assert number.onnx_compatible() == (number.onnx_type() != TensorProtoDataType.UNDEFINED)


def test_numbers_are_those_that_the_exporter_writes():
    words = {"float32": "FLOAT", "float64": "DOUBLE"}
    for dtype, number in CODES.items():
        name = str(dtype).rpartition(".")[2]
        wanted = TensorProtoDataType[words.get(name, name.upper().replace("_E", "E"))]
        assert wanted == number
        if dtype in (taeda.uint16, taeda.uint32, taeda.uint64):  # TorchScript does not count them
            continue
        assert JitScalarType.from_dtype(dtype).onnx_type() == wanted
        assert JitScalarType.from_onnx_type(wanted) is JitScalarType.from_dtype(dtype)


def test_names_are_those_of_torchscript():
    assert (JitScalarType.INT64.scalar_name(), JitScalarType.INT64.torch_name()) == (
        "Long",
        "int64_t",
    )
    assert JitScalarType.from_value(None, JitScalarType.BOOL) is JitScalarType.BOOL
    assert not JitScalarType.UNDEFINED.onnx_compatible()


@pytest.mark.parametrize(
    "call",
    [
        lambda: JitScalarType.from_dtype(None),
        lambda: JitScalarType.from_dtype("float"),
        lambda: JitScalarType.from_onnx_type(None),
        lambda: JitScalarType.from_onnx_type(99),
        lambda: JitScalarType.from_value(3),
        JitScalarType.UNDEFINED.dtype,
        JitScalarType.UNDEFINED.scalar_name,
        JitScalarType.UNDEFINED.torch_name,
    ],
)
def test_what_has_no_number_is_refused(call):
    with pytest.raises(OnnxExporterError):
        call()
