"""Programs as ONNX models.

>>> import taeda
>>> from taeda import nn
>>> model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
>>> program = export(model, (taeda.ones(4, 3),), verify=False)
>>> [node.kind for node in program.model.nodes]
['Gemm', 'Relu', 'Identity']
"""

from __future__ import annotations

from ._export import export
from ._modes import (
    OperatorExportTypes,
    TrainingMode,
    is_in_onnx_export,
    select_model_mode_for_export,
)
from ._program import ONNXProgram
from ._symbolic import register_custom_op_symbolic, unregister_custom_op_symbolic
from .errors import OnnxExporterError

__all__ = [
    "ONNXProgram", "OnnxExporterError", "OperatorExportTypes", "TrainingMode", "export",
    "is_in_onnx_export", "register_custom_op_symbolic", "select_model_mode_for_export",
    "unregister_custom_op_symbolic",
]  # fmt: skip
