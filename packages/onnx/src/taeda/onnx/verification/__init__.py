"""Whether models give the numbers of the programs that they were made from, and where they differ."""

from __future__ import annotations

from ._cases import OnnxTestCaseRepro
from ._checks import OnnxBackend, VerificationOptions, check_export_model_diff, verify
from ._info import VerificationInfo, verify_onnx_program
from ._search import GraphInfo, GraphInfoPrettyPrinter, find_mismatch, verify_aten_graph

__all__ = [
    "GraphInfo", "GraphInfoPrettyPrinter", "OnnxBackend", "OnnxTestCaseRepro", "VerificationInfo",
    "VerificationOptions", "check_export_model_diff", "find_mismatch", "verify", "verify_aten_graph",
    "verify_onnx_program",
]  # fmt: skip
