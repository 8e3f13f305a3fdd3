"""A device type of one's own: its name, and the attributes that go by it."""

from __future__ import annotations

from typing import Any

import taeda
from taeda._native import core as _core

__all__ = ["generate_methods_for_privateuse1_backend", "rename_privateuse1_backend"]

#: classes of siblings that can be moved, as they register themselves, and the kinds for which
#: methods were asked for
_movable: dict[str, list[type]] = {"module": [], "packed sequence": []}
_asked: set[str] = set()


def register_movable(kind: str, cls: type) -> None:
    """`cls` of a sibling gets the methods of `kind` ("module", "packed sequence"), now or when they
    are asked for.
    """
    _movable[kind].append(cls)
    if kind in _asked:
        _dress(kind, cls)


def _dress(kind: str, cls: type) -> None:
    name = _core.privateuse1_name()
    if kind == "module":
        _attach_to_module(cls, name)
    else:
        _attach(cls, name)
        _attach_question(cls, name)


def rename_privateuse1_backend(backend_name: str) -> None:
    """Call the private device type `backend_name`, so that `device(backend_name)` means it.

    Once a process; the same name again does nothing. RuntimeError for another name later, for the
    name of a documented type, and for what is no name of lower-case letters, digits and `_`. The
    device itself is a table of C functions (`csrc/runtime/device.h`), registered by the library
    that brings it.

    >>> import subprocess, sys
    >>> program = "import taeda; taeda.utils.rename_privateuse1_backend('npu'); print(taeda.device('npu', 1))"
    >>> subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip()
    'npu:1'
    """
    _core.rename_privateuse1(backend_name)


def generate_methods_for_privateuse1_backend(
    for_tensor: bool = True,
    for_module: bool = True,
    for_packed_sequence: bool = True,
    for_storage: bool = False,
    unsupported_dtype: list[taeda.dtype] | None = None,
) -> None:
    """Give tensors `.npu()` and `.is_npu` where the private device type is called `npu`, and
    modules and packed sequences `.npu()`.

    Modules and packed sequences come with taeda-nn; where it is loaded later, they get the methods
    then. `for_storage` gives storages the same two names. A dtype in `unsupported_dtype` is refused
    by `.npu()` of storages with RuntimeError. RuntimeError if a class has such a name already.

    >>> import subprocess, sys
    >>> lines = (
    ...     "import taeda",
    ...     "taeda.utils.rename_privateuse1_backend('npu')",
    ...     "taeda.utils.generate_methods_for_privateuse1_backend()",
    ...     "print(taeda.ones(1).is_npu)",
    ... )
    >>> program = "; ".join(lines)
    >>> subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout.strip()
    'False'
    """
    name = _core.privateuse1_name()
    if for_tensor:
        _attach(taeda.Tensor, name)
        _attach_question(taeda.Tensor, name)
    for kind, wanted in (("module", for_module), ("packed sequence", for_packed_sequence)):
        if wanted and kind not in _asked:
            _asked.add(kind)
            for cls in _movable[kind]:
                _dress(kind, cls)
    if for_storage:
        for storage in (taeda.UntypedStorage, taeda.TypedStorage):
            _attach_to_storage(storage, name, frozenset(unsupported_dtype or ()))
            _attach_question(storage, name)


def _place(name: str, device: Any) -> Any:
    """`device` of a call `.npu(device)`: an ordinal, a device of that type, or None for the first."""
    if device is None:
        return taeda.device(name, 0)
    found = taeda.device(name, device) if isinstance(device, int) else taeda.device(device)
    if found.type != name:
        raise RuntimeError(f"{name}() moves to a device of type '{name}', not to '{found}'")
    return found


def _set(kind: type, attribute: str, value: Any) -> None:
    if hasattr(kind, attribute):
        raise RuntimeError(f"{kind.__name__} has an attribute '{attribute}' already")
    setattr(kind, attribute, value)


def _attach(kind: type, name: str) -> None:
    def move(self: Any, device: Any = None, non_blocking: bool = False, **kwargs: Any) -> Any:
        return self.to(_place(name, device), non_blocking=non_blocking, **kwargs)

    _named(move, name)
    _set(kind, name, move)


def _attach_to_module(kind: type, name: str) -> None:
    def move(self: Any, device: Any = None) -> Any:
        return self.to(_place(name, device))

    _named(move, name)
    _set(kind, name, move)


def _named(move: Any, name: str) -> None:
    move.__name__ = name
    move.__doc__ = f"Move to a device of type '{name}': the first, unless `device` says which."


def _attach_to_storage(kind: type, name: str, refused: frozenset[Any]) -> None:
    def move(self: Any, device: Any = None, non_blocking: bool = False) -> Any:
        if getattr(self, "dtype", None) in refused:
            raise RuntimeError(f"storages of {self.dtype} cannot live on '{name}'")
        return self.to(device=_place(name, device), non_blocking=non_blocking)

    _named(move, name)
    _set(kind, name, move)


def _attach_question(kind: type, name: str) -> None:
    def ask(self: Any) -> bool:
        return bool(taeda.device(getattr(self, "data", self).device).type == name)

    _set(kind, f"is_{name}", property(ask, doc=f"True on a device of type '{name}'."))
