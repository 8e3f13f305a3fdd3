"""What `export` raises and warns of."""

from __future__ import annotations

from typing import Any

__all__ = [
    "OnnxExporterError", "OnnxExporterWarning", "SymbolicValueError", "UnsupportedOperatorError"
]  # fmt: skip


class OnnxExporterError(RuntimeError):
    """A program has no ONNX model, or its model gives other numbers."""


class OnnxExporterWarning(UserWarning):
    """The model is right, but may not be what was meant."""


class UnsupportedOperatorError(OnnxExporterError):
    """A row of the program has no rule. `name` is the row, `version` the opset, and
    `supported_version` an opset in which it has one, if there is any.
    """

    def __init__(
        self, name: str, version: int, supported_version: int | None = None, msg: str = ""
    ) -> None:
        later = "" if supported_version is None else f"; opset {supported_version} has one"
        super().__init__(msg or f"{name} has no rule for ONNX in opset {version}{later}")
        self.name, self.version, self.supported_version = name, version, supported_version


class SymbolicValueError(OnnxExporterError):
    """A row has a rule, but not for these arguments. `value` is the node of the program."""

    def __init__(self, msg: str, value: Any = None) -> None:
        super().__init__(msg)
        self.value = value
