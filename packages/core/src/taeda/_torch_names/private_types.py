"""Types of scripts, as annotations and tests of libraries name them: a class for each, with one object."""

from __future__ import annotations

from typing import Any

__all__ = ["TYPES"]


class _ScriptType:
    """A type of TorchScript: `get()` is its object, whose text is the annotation."""

    annotation_str = ""
    _only: Any = None

    @classmethod
    def get(cls) -> Any:
        """The one object of the type."""
        if cls._only is None:
            cls._only = cls()
        return cls._only

    def kind(self) -> str:
        """The name of the class."""
        return type(self).__name__

    def __str__(self) -> str:
        return self.annotation_str

    __repr__ = __str__


def _type(name: str, text: str) -> type:
    return type(name, (_ScriptType,), {"annotation_str": text, "__module__": "torch"})


#: by their names at the top of torch
TYPES: dict[str, type] = {
    name: _type(name, text)
    for name, text in {
        "TensorType": "Tensor", "IntType": "int", "FloatType": "float", "BoolType": "bool",
        "StringType": "str", "NoneType": "NoneType", "AnyType": "Any", "DeviceObjType": "Device",
        "NumberType": "number", "ComplexType": "complex", "PyObjectType": "PyObject",
    }.items()
}  # fmt: skip
