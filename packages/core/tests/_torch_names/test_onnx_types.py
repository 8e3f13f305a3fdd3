"""The numbers of ONNX's types."""

import pytest

from taeda._torch_names.onnx_types import TensorProtoDataType


def test_numbers_are_those_that_the_exporter_writes():
    dtypes = pytest.importorskip(
        "taeda.onnx._dtypes", reason="the exporter is a package of its own"
    )
    words = {"float32": "FLOAT", "float64": "DOUBLE"}
    for dtype, number in dtypes.CODES.items():
        name = str(dtype).rpartition(".")[2]
        assert TensorProtoDataType[words.get(name, name.upper())] == number


def test_numbers_are_without_gaps():
    assert [int(kind) for kind in TensorProtoDataType] == list(range(21))
