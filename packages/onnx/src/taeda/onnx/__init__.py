"""Programs as ONNX models.

>>> import taeda
>>> from taeda import nn
>>> model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
>>> program = export(model, (taeda.ones(4, 3),), verify=False)
>>> [node.kind for node in program.model.nodes]
['Gemm', 'Relu']
"""

from __future__ import annotations

from . import errors, ops, verification
from ._earlier import (
    DiagnosticOptions,
    ExportOptions,
    OnnxRegistry,
    ONNXRuntimeOptions,
    dynamo_export,
    enable_fake_mode,
    is_onnxrt_backend_supported,
)
from ._export import export
from ._modes import (
    OperatorExportTypes,
    TrainingMode,
    is_in_onnx_export,
    select_model_mode_for_export,
)
from ._program import ONNXProgram
from ._scalar_types import JitScalarType, TensorProtoDataType
from ._symbolic import register_custom_op_symbolic, unregister_custom_op_symbolic
from .errors import OnnxExporterError

__all__ = [
    "DiagnosticOptions", "ExportOptions", "JitScalarType", "ONNXProgram", "ONNXRuntimeOptions",
    "OnnxExporterError", "OnnxRegistry", "OperatorExportTypes", "TensorProtoDataType",
    "TrainingMode", "dynamo_export", "enable_fake_mode", "errors", "export", "is_in_onnx_export",
    "is_onnxrt_backend_supported", "ops", "register_custom_op_symbolic",
    "select_model_mode_for_export", "unregister_custom_op_symbolic", "verification",
]  # fmt: skip
