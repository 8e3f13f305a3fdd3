"""`taeda.install_as_torch()`: in this process `import torch` gives taeda, for libraries that only
need what exists.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from importlib import metadata
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

from taeda._warnings import warn

from .._tensor.legacy_types import said_as
from .absent import answer
from .classes import say_torch
from .private import ELSEWHERE, FILLED, MENTIONED, MODULES, fetched, made
from .private_ops import MentionedOperator
from .torch_version import TorchVersion

__all__ = ["API_VERSION", "install_as_torch"]

#: the version of PyTorch whose names and behaviour taeda follows
API_VERSION = "2.13.0"
#: packages that cannot be imported here, and why; others that look for them find none
UNFIT = {
    "torchao": "it is written on internals of torch's compiler and on dtypes shorter than a byte; "
    "taeda.quantization has layers of 8 and 4 bits",
    "bitsandbytes": "it defines an operator of 18 arguments, and 16 are the most; taeda.quantization has "
    "layers of 8 and 4 bits",
}


def install_as_torch(*, distributed: bool = False) -> None:
    """Let `import torch`, and imports of its modules, give taeda from now on, in this process.

    `torch.__version__` and the metadata of a distribution "torch" say "2.13.0+taeda", so that
    libraries which ask for a version find one; dtypes, layouts, sizes and `Tensor.type()` say torch in
    their text, and so do the classes of tensors, parameters, dtypes and devices. Names that taeda
    lacks are absent here too. Calling it again changes nothing. A package that cannot run here and
    would stop those that import it (torchao, bitsandbytes) is hidden, with a warning that says why.
    RuntimeError if the real torch is imported: the two do not mix.

    Args:
        distributed: what `torch.distributed.is_available()` says (default: False). Many libraries
            take it as a promise of all of its parts, and RPC does not exist here.

    >>> taeda.install_as_torch()
    >>> import torch
    >>> torch.ones(2) + 1
    tensor([2., 2.])
    """
    known = sys.modules.get("torch")
    if isinstance(known, _Torch):
        return
    if known is not None:
        raise RuntimeError(
            "install_as_torch: torch is imported in this process already; call this before "
            "anything that imports it"
        )
    import taeda

    for name in [name for name in sys.modules if name.startswith("torch.")]:
        del sys.modules[name]
    sys.modules["torch"] = torch = _Torch("torch", taeda)
    torch.__dict__["__version__"] = TorchVersion(f"{API_VERSION}+taeda")
    torch.__dict__["torch"] = torch  # it imports itself by name, and libraries found that out
    if not distributed:
        hidden = _Torch("torch.distributed", _distributed())
        hidden.__dict__["is_available"] = lambda: False
        sys.modules["torch.distributed"] = torch.__dict__["distributed"] = hidden
    for name in filter(None, FILLED):
        if (view := _filled(name)) is not None:
            sys.modules[f"torch.{name}"] = torch.__dict__[name] = view
    aten: Any = taeda.ops.aten
    for name in MENTIONED:
        aten.__dict__.setdefault(name, MentionedOperator(name))
    said_as[0] = "torch"
    say_torch()
    _hide_unfit()
    sys.meta_path.insert(0, _Finder)


def _hide_unfit() -> None:
    """Let nobody find what would stop at its import: libraries import it because it is installed."""
    for name, why in UNFIT.items():
        if name not in sys.modules and importlib.util.find_spec(name) is not None:
            sys.modules[name] = None  # type: ignore[assignment]  # Python's way: an import raises
            warn(f"{name} is installed, and hidden from this process: {why}")


def _distributed() -> ModuleType:
    """`taeda.distributed`, or an empty module where it is not installed: torch always has one."""
    try:
        return importlib.import_module("taeda.distributed")
    except ModuleNotFoundError:
        return ModuleType("taeda.distributed")


def _filled(name: str) -> ModuleType | None:
    """A module of ours that `FILLED` lends names to; None where it is not installed."""
    try:
        ours = importlib.import_module(f"taeda.{name}")
    except ModuleNotFoundError:
        return None
    return _Torch(f"torch.{name}", ours)


class _Torch(ModuleType):
    """A module of torch that is not quite ours: what it does not hold itself comes from ours, and
    is written and deleted there. A name that was written over comes back when it is deleted.
    """

    def __init__(self, name: str, ours: ModuleType) -> None:
        super().__init__(name, ours.__doc__)
        origin = getattr(ours, "__file__", None)
        spec = ModuleSpec(name, _Loader, origin=origin, is_package=True)  # type: ignore[arg-type]  # has the two methods
        self.__dict__.update(_taeda=ours, _written={}, __path__=[], __file__=origin, __spec__=spec)

    def __getattr__(self, name: str) -> Any:
        if (private := f"{self.__name__}.{name}") in MODULES:
            return importlib.import_module(private)
        try:
            return getattr(self.__dict__["_taeda"], name)
        except AttributeError:
            filled = FILLED.get(self.__name__.partition(".")[2], {})
            if name not in filled:
                raise
        try:
            found = self.__dict__[name] = fetched(filled[name])
        except ModuleNotFoundError as missing:
            said = f"{self.__name__}.{name}: its package is not installed: {missing}"
            raise AttributeError(said, name=name, obj=self) from missing
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        # the import system hangs what it imported under its parent: a stand-in stays with stand-ins, for
        # `import torch._functorch.vmap` would hide the function taeda.func.vmap
        if name[:2] == "__" or name in self.__dict__ or isinstance(value, _Torch):
            ModuleType.__setattr__(self, name, value)
        else:
            ours = self.__dict__["_taeda"]
            if name in vars(ours):
                self.__dict__["_written"].setdefault(name, vars(ours)[name])
            setattr(ours, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            ModuleType.__delattr__(self, name)
            return
        ours, written = self.__dict__["_taeda"], self.__dict__["_written"]
        delattr(ours, name)
        # unittest.mock deletes what it wrote over a name of ours, and relies on the old value being there:
        # it does not put back what can be read, nor a builtin's name.
        if name in written:
            setattr(ours, name, written.pop(name))

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_taeda"])


def _private(name: str) -> ModuleType:
    """A private module of torch: ours where there is one, with what else libraries name."""
    module = _Torch(name, _ours(name))
    own = vars(made(name))
    module.__dict__.update({n: v for n, v in own.items() if n[:2] != "__" or n == "__doc__"})
    return module


def _ours(name: str) -> ModuleType:
    """The module of taeda of a module of torch, which may only be an attribute of another; an empty
    one where there is none.
    """
    full = ELSEWHERE.get(name) or "taeda" + name.removeprefix("torch")
    place, _, last = full.rpartition(".")
    try:
        return importlib.import_module(full)
    except ModuleNotFoundError:
        above = sys.modules.get(place)  # which may be no package, and have it all the same
        if isinstance(found := getattr(above, last, None), ModuleType):
            return found
    empty = ModuleType(full)
    empty.__dict__["__getattr__"] = answer(full)
    return empty


class _Loader:
    """Gives the module of taeda, and leaves it as it is."""

    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        if spec.name in MODULES:
            return _private(spec.name)
        ours = importlib.import_module("taeda" + spec.name.removeprefix("torch"))
        spec.loader_state = ours.__spec__
        return ours

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        spec = module.__spec__
        if spec is not None and spec.loader_state is not None:
            module.__spec__ = spec.loader_state  # the import system has put the other one there

    @staticmethod
    def get_code(fullname: str) -> CodeType | None:
        """What `python -m torch.x` runs: the text of ours."""
        name = "taeda" + fullname.removeprefix("torch")
        spec = None if fullname in MODULES else importlib.util.find_spec(name)
        code: CodeType | None = getattr(spec and spec.loader, "get_code", lambda name: None)(name)
        return code


class _Finder:
    """Finds `torch.x` where `taeda.x` is, and the distribution."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("torch.") and fullname not in MODULES:
            return None
        if fullname in MODULES:
            below = any(name.startswith(fullname + ".") for name in MODULES)
            return ModuleSpec(fullname, _Loader, is_package=below)  # type: ignore[arg-type]  # has the two methods
        try:
            ours = importlib.util.find_spec("taeda" + fullname.removeprefix("torch"))
        except ModuleNotFoundError:  # its parent has none
            return None
        if ours is None:
            return None
        packaged = ours.submodule_search_locations is not None
        return ModuleSpec(fullname, _Loader, origin=ours.origin, is_package=packaged)  # type: ignore[arg-type]  # has the two methods

    @staticmethod
    def find_distributions(context: Any = None) -> Iterable[metadata.Distribution]:
        name = getattr(context, "name", None)
        return [_Distribution()] if name is None or name.lower() == "torch" else []

    @staticmethod
    def invalidate_caches() -> None: ...


class _Distribution(metadata.Distribution):
    """What `importlib.metadata` says of torch."""

    def read_text(self, filename: str) -> str | None:
        if filename != "METADATA":
            return None
        return (
            f"Metadata-Version: 2.1\nName: torch\nVersion: {API_VERSION}+taeda\n"
            "Summary: taeda under the name of torch, in this process\n"
        )

    def locate_file(self, path: Any) -> Any:
        raise FileNotFoundError(f"the distribution torch has no files here: {path}")
