"""Attributes that are views, and answers to questions about devices and layouts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._native import core as _core
from ._method import Tensor, set_property


def _set_view_properties() -> None:
    functions = {**_core.functions[""], **_core.functions.get("attribute", {})}
    for name, op, doc in (
        ("T", "numpy_T", "Dimensions reversed."), ("mT", "mT", "The last two dimensions exchanged."),
        ("H", "matrix_H", "Conjugate transpose of a matrix."),
        ("mH", "mH", "Conjugate transpose of the last two dimensions."),
        ("real", "real", "Real part, a view."), ("imag", "imag", "Imaginary part, a view."),
    ):  # fmt: skip
        if op in functions:
            set_property(name, functions[op], doc)


_set_view_properties()


def _set_part(name: str) -> None:
    """Let an assignment to a view write through it."""
    view: property = vars(Tensor)[name]

    def write(self: Tensor, value: Any) -> None:
        if type(self) is not Tensor:
            from .._layers import dispatch as _dispatch  # late: it needs Tensor complete

            if _dispatch.has_overrides((self,)):
                _dispatch.dispatch_override(vars(Tensor)[name].__set__, (self, value), {})
                return
        part = view.fget(self)  # type: ignore[misc]  # a view has one
        part.copy_(value) if isinstance(value, Tensor) else part.fill_(value)

    setattr(Tensor, name, property(view.fget, write, doc=view.__doc__))


for _part in ("real", "imag"):
    _set_part(_part)


_ABSENT = (
    *("is_mkldnn", "is_mps", "is_xpu"),
    *("is_nested", "is_ipu", "is_xla", "is_mtia", "is_maia", "is_vulkan"),
)
_PROPERTIES: dict[str, tuple[Callable[[Tensor], Any], str]] = {
    "is_cpu": (lambda self: self.device.type == "cpu", "True if the memory is on the cpu."),
    "is_cuda": (lambda self: self.device.type == "cuda", "True if the memory is on a CUDA device."),
    "is_meta": (lambda self: self.device.type == "meta", "True for a tensor without memory."),
    "_cdata": (id, "A number that no other tensor has; libraries compare it."),
    "name": (lambda self: None, "None: tensors have no names."),
    "volatile": (lambda self: False, "False; kept for old programs."),
    **dict.fromkeys(_ABSENT, (lambda self: False, "False: no such tensors in this build.")),
}
for _name, (_get, _doc) in _PROPERTIES.items():
    set_property(_name, _get, _doc)
