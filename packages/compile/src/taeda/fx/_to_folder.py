"""A graph module as a folder: Python text, and its tensors beside it.

The text builds every module by its constructor on the meta device, where nothing is drawn and
nothing allocated, and then puts the tensors of the file in their places.
"""

from __future__ import annotations

import inspect
import math
import os
from collections.abc import Mapping
from importlib.util import cache_from_source
from keyword import iskeyword
from pathlib import Path
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api.files import atomic_write

from ._codegen import _path
from ._names import qualified_name, resolve
from .graph_module import GraphModule

__all__ = ["to_folder"]

_HEAD = '''"""Written by taeda.fx. The tensors lie beside this file, in state_dict.pt."""

from math import inf, nan
from pathlib import Path

import taeda
from taeda import device, nn
'''
_ON_META = """def _on_meta(kind, **values):
    with device("meta"):
        return kind(**values)
"""
_KNOWN = {"taeda": taeda, "device": taeda.device, "inf": math.inf, "nan": math.nan}


def to_folder(module: GraphModule, folder: str | os.PathLike[str], name: str) -> None:
    """Write `module` as the class `name` of the package `folder`."""
    if not name.isidentifier() or iskeyword(name):
        raise ValueError(f"to_folder: module_name must be an identifier, got {name!r}")
    text, place = _Text(module, name).text(), Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    taeda.save(_tensors(module), place / "state_dict.pt")
    _write(place / "module.py", text)
    _write(place / "__init__.py", f"from .module import {name}\n\n__all__ = [{name!r}]\n")


def _write(path: Path, text: str) -> None:
    with atomic_write(path) as file:
        file.write(text.encode())
    # Python knows the text of its bytecode by size and second: of two texts as long as each other,
    # written within a second, it would run the first
    Path(cache_from_source(path)).unlink(missing_ok=True)


def _tensors(module: nn.Module) -> dict[str, Tensor]:
    named = (*module.named_parameters(), *module.named_buffers())
    return {path: tensor.detach() for path, tensor in named}


class _Text:
    """The text under way: imports by name, a class for each graph module, lines of `__init__`."""

    def __init__(self, module: GraphModule, name: str) -> None:
        self.module, self.name = module, name
        self.imports: dict[str, str] = {}
        self.classes: list[str] = []
        self.lines: list[str] = []

    def text(self) -> str:
        forward = self._forward(self.module)
        self._children(self.module, "")
        self._put_tensors()
        self._put_training()
        init = "".join(f"        {line}\n" for line in self.lines)
        imports = "".join(f"{line}\n" for line in sorted(set(self.imports.values())))
        body = (
            f"class {self.name}(nn.Module):\n    def __init__(self):\n"
            "        super().__init__()\n"
            '        data = taeda.load(Path(__file__).parent / "state_dict.pt", weights_only=True)\n'
        )
        return "\n\n".join([_HEAD + imports, _ON_META, *self.classes, f"{body}{init}{forward}"])

    # ---- code ----

    def _forward(self, module: GraphModule) -> str:
        code = module.graph.python_code("self", lasting=True)
        for name, value in code.globals.items():
            self._import(name, value)
        return "".join(f"    {line}\n" if line else "\n" for line in code.src.splitlines())

    def _import(self, name: str, value: Any) -> None:
        if name in _KNOWN and value is _KNOWN[name]:
            return
        found = qualified_name(value)
        path, _, own = (found or "").rpartition(".")
        if (
            not path
            or path.startswith("__main__")
            or "<" in path
            or resolve(str(found)) is not value
        ):
            raise RuntimeError(
                f"to_folder cannot write {name}: {value!r} is not a function or class at the top "
                "of a module that can be imported"
            )
        line = f"from {path} import {own} as {name}"
        if self.imports.setdefault(name, line) != line:
            raise RuntimeError(f"to_folder: {name} means two things: {self.imports[name]}, {line}")

    # ---- modules ----

    def _children(self, module: nn.Module, path: str) -> None:
        """Lines that build what is below `module`, and set what its graph reads of it."""
        for name, child in module.named_children():
            below = f"{path}.{name}".lstrip(".")
            made, inner = self._module(child, below)
            self.lines.append(
                f"{_path('self', path) if path else 'self'}.add_module({name!r}, {made})"
            )
            if inner:
                self._children(child, below)
        if isinstance(module, GraphModule):
            self._attributes(module, path)

    def _module(self, child: nn.Module, path: str) -> tuple[str, bool]:
        """The text that makes a module, and whether its children are still to be made."""
        if isinstance(child, GraphModule):
            name = f"{self.name}_{path.replace('.', '_')}"
            self.classes.append(
                f"class {name}(nn.Module):\n{self._forward(child).lstrip(chr(10))}".rstrip() + "\n"
            )
            return f"{name}()", True
        if type(child) is nn.Module:
            return "nn.Module()", True
        if type(child) in (nn.Sequential, nn.ModuleList, nn.ModuleDict):
            return f"nn.{type(child).__name__}()", True
        return f"_on_meta({self._constructor(child, path)})", False

    def _attributes(self, module: GraphModule, path: str) -> None:
        for node in module.graph.find_nodes(op="get_attr"):
            *prefix, field = str(node.target).split(".")
            place: Any = module
            for part in prefix:
                place = getattr(place, part)
            value = getattr(place, field)
            if not isinstance(value, (Tensor, nn.Module)):
                owner = (
                    _path("self", ".".join([p for p in (path, *prefix) if p]))
                    if path or prefix
                    else "self"
                )
                self.lines.append(f"{owner}.{field} = {self._literal(value, str(node.target))}")

    def _constructor(self, module: nn.Module, path: str) -> str:
        """The call that makes a module like this one."""
        kind = type(module)
        values = _arguments(module, path)
        with taeda.device("meta"):
            again = kind(**values)
        different = _difference(module, again)
        if different:
            raise RuntimeError(
                f"to_folder cannot write {path}: {kind.__name__}({values}) would differ from it in "
                f"{different}"
            )
        text = ", ".join(f"{n}={self._literal(v, f'{path}.{n}')}" for n, v in values.items())
        return f"{self._class(kind)}, {text}" if text else self._class(kind)

    def _class(self, kind: type) -> str:
        if getattr(nn, kind.__name__, None) is kind:
            return f"nn.{kind.__name__}"
        self._import(kind.__name__, kind)
        return kind.__name__

    def _literal(self, value: Any, what: str) -> str:
        if value is None or type(value) in (bool, int, float, complex, str, bytes):
            return repr(value)
        if type(value) in (tuple, list):
            inner = ", ".join(self._literal(v, what) for v in value)
            return f"[{inner}]" if type(value) is list else f"({inner}{',' * (len(value) == 1)})"
        if isinstance(value, (taeda.dtype, taeda.layout, taeda.memory_format)):
            return f"taeda.{str(value).rpartition('.')[2]}"  # which may say torch, see install_as_torch
        if callable(value):
            name = f"_{getattr(value, '__name__', 'function')}"
            self._import(name, value)
            return name
        raise RuntimeError(f"to_folder cannot write {what}, {value!r}, as text")

    # ---- tensors, modes ----

    def _put_tensors(self) -> None:
        known: dict[int, str] = {}
        parameters = list(self.module.named_parameters(remove_duplicate=False))
        buffers = list(self.module.named_buffers(remove_duplicate=False))
        for is_buffer, named in ((False, parameters), (True, buffers)):
            for path, tensor in named:
                first = known.setdefault(id(tensor), path)
                self._put(path, tensor, None if first == path else first, is_buffer)

    def _put(self, path: str, tensor: Tensor, first: str | None, is_buffer: bool) -> None:
        above, _, field = path.rpartition(".")
        owner = _path("self", above) if above else "self"
        value = f"data[{path!r}]" if first is None else _path("self", first)
        if is_buffer:
            place = self.module.get_submodule(above)
            kept = "" if field not in place._non_persistent_buffers_set else ", persistent=False"
            self.lines.append(f"{owner}.register_buffer({field!r}, {value}{kept})")
            return
        if first is None:
            value = f"nn.Parameter({value}, requires_grad={tensor.requires_grad})"
        self.lines.append(f"{owner}.register_parameter({field!r}, {value})")

    def _put_training(self) -> None:
        self.lines.append(f"self.train({self.module.training})")
        for path, module in self.module.named_modules():
            if path and module.training != self.module.training:
                self.lines.append(f"{_path('self', path)}.training = {module.training}")


# ---- the arguments of a module, out of its attributes ----


def _arguments(module: nn.Module, path: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, p in inspect.signature(type(module)).parameters.items():
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or name in ("device", "dtype"):
            continue
        value = getattr(module, name, p.default)
        if value is p.empty:
            raise RuntimeError(
                f"to_folder cannot write {path}: {type(module).__name__} wants {name!r}, which the "
                "module does not keep as an attribute. Trace through it instead"
            )
        if isinstance(value, Tensor) or (value is None and isinstance(p.default, bool)):
            value = value is not None  # bias=True is kept as the bias itself
        if value is not p.default and not _same(value, p.default):
            found[name] = value
    return found


_TREES = ("_parameters", "_buffers", "_modules", "training")


def _difference(a: nn.Module, b: nn.Module) -> str:
    """Where two modules are not alike, but for the numbers in their tensors; "" if nowhere."""
    plain, other = _plain(a), _plain(b)
    for name in plain.keys() | other.keys():
        if name not in plain or name not in other or not _same(plain[name], other[name]):
            return name
    if _shapes(a._parameters) != _shapes(b._parameters) or _shapes(a._buffers) != _shapes(
        b._buffers
    ):
        return "its tensors"
    if list(a._modules) != list(b._modules):
        return "its submodules"
    for name, child in a._modules.items():
        again = b._modules[name]
        if type(child) is not type(again):
            return name
        inner = "" if child is None or again is None else _difference(child, again)
        if inner:
            return f"{name}.{inner}"
    return ""


def _plain(module: nn.Module) -> dict[str, Any]:
    """The attributes that are neither tensors nor modules."""
    trees = {*_TREES, *module._parameters, *module._buffers, *module._modules}
    return {name: value for name, value in vars(module).items() if name not in trees}


def _shapes(tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {name: None if t is None else tuple(t.shape) for name, t in tensors.items()}


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return False
    return type(a) is type(b) and bool(a == b)
