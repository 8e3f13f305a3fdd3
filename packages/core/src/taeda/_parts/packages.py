"""Packages whose own code runs when one of their attributes is first asked for.

A module waits for its packages before it is imported, and a package imports its modules: two
threads that begin at the two ends wait for each other, and Python then shows one of them a module
that is half filled. So importing a package runs nothing here, and nobody waits for it. Its code
runs under a lock of its own when somebody asks for a name; others who ask meanwhile wait for all of
it. A module that is being imported itself holds a lock that the package may want: it gets modules
of the package at once, and waits for other names only, which the imports of this project allow
since they have no cycle.

`taeda` itself is created by `begin`, before Python shows it to other threads
(`csrc/package/package.c`). So whoever imports a part finds all folders of parts, and the finder
below, whose loader lets that thread wait until the code of `taeda` has run. That code imports
private modules only, and nobody waits who imports one of those: a thread that waits holds no lock
that it could want.
"""

from __future__ import annotations

import importlib.util
import os.path
import posix
import sys
from _thread import RLock, _local, allocate_lock, get_ident
from collections.abc import Callable
from importlib.machinery import ExtensionFileLoader, ModuleSpec, PathFinder, SourceFileLoader
from pkgutil import extend_path
from types import ModuleType
from typing import Any

__all__ = ["AT_ONCE", "SHARED", "begin", "greet_neighbours", "install_packages", "name_place"]

#: packages with modules of several distributions, whose own code imports none of them
SHARED = frozenset({"taeda.cpu", "taeda.cuda", "taeda.utils"})
#: packages with modules of several distributions: those, and nn, of which taeda-distributed brings `parallel`
JOINED = SHARED | {"taeda.nn"}
#: public packages whose code runs at once: those, and one that tells pickle how to send tensors
AT_ONCE = SHARED | {"taeda.multiprocessing"}

#: modules of other packages after whose import something of `taeda._neighbours` runs
NEIGHBOURS = frozenset({"einops._backends", "matplotlib.units", "torchaudio._extension.utils"})

# what the import system and those who look through all modules ask for, which needs no code to have run
_MACHINERY = frozenset(
    {"__name__", "__spec__", "__path__", "__file__", "__loader__", "__package__", "__cached__",
        "__class__", "__warningregistry__"}
)  # fmt: skip

_here = _local()  # .loading: how many modules of ours this thread is importing


def _full_name(finder: Any) -> tuple[Any, Any]:
    return getattr(finder, "__module__", None), getattr(finder, "__name__", None)


def _refuse_second(own: Any = None) -> None:
    """ImportError if there is a finder, not `own`, of an earlier import, whose modules were taken from
    `sys.modules`: the compiled core is that one's still.
    """
    for finder in sys.meta_path:
        if finder is not own and _full_name(finder) == (__name__, "_Finder"):
            raise ImportError(
                "taeda was imported in this process before, and its modules were removed from sys.modules: "
                "its compiled part cannot be imported twice. Keep the modules, or start another process"
            )


def _given(name: str) -> Any:
    """A function that the compiled package gives before this module runs (`csrc/package/quiet.c`)."""
    try:
        return globals()[name]
    except KeyError:
        _refuse_second()
        importlib.import_module("taeda._native")  # says why nothing compiled is there
        raise ImportError(
            "taeda is incomplete: its __init__.abi3.so is missing, or of another version. Install it again, "
            "or build it where it is a checkout: python packages/core/hatch_build.py"
        ) from None


be_quiet: Callable[[], None] = _given("be_quiet")
be_open: Callable[..., None] = _given("be_open")
after_fork: Callable[[], None] = _given("after_fork")


class _Calm:
    """Code of ours that is being imported is not interrupted by a program's own.

    The handler of a signal, or a finalizer, that runs amid an import and computes would be shown
    modules that are half filled: it is in the thread that imports, so it cannot wait. Signals for
    which Python has a handler come afterwards, and so do collections of garbage.
    """

    __enter__ = staticmethod(be_quiet)
    __exit__ = staticmethod(be_open)


_calm = _Calm()
if hasattr(posix, "register_at_fork"):
    posix.register_at_fork(after_in_child=after_fork)


class _Run:
    """The code of one package, to be run once."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.owner = 0  # the thread that runs it
        self.done = False
        self.modules: dict[str, ModuleType] = {}  # imported before, bound when it runs


_runs: dict[str, _Run] = {}
_plain: Any = ModuleType.__getattribute__


class _Package(ModuleType):
    """A package whose code has not run, or not to its end; an ordinary module afterwards."""

    def __getattribute__(self, name: str) -> Any:
        if name in _MACHINERY:
            return _plain(self, name)
        own = _plain(self, "__name__")
        run = _runs[own]
        if run.owner == get_ident():
            return _as_far_as_it_is(self, name)
        if getattr(_here, "loading", 0):
            found = _module(own, name)
            if found is not None:
                return found
        _finish(self, run)
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        own = _plain(self, "__name__")
        run = _runs.get(own)
        imported = sys.modules.get(f"{own}.{name}")
        if run is None or run.owner or name in _MACHINERY:
            ModuleType.__setattr__(self, name, value)
        elif imported is not None and imported is value:  # the import system binds what it imported
            run.modules[name] = imported
            if run.done:  # meanwhile
                _plain(self, "__dict__").setdefault(name, value)
        else:
            _finish(self, run)
            setattr(self, name, value)

    def __delattr__(self, name: str) -> None:
        _finish(self, _runs[_plain(self, "__name__")])
        delattr(self, name)


def _as_far_as_it_is(package: _Package, name: str) -> Any:
    """What the package holds amid its own code. Others of this thread than its modules, such as the
    function of a tracer or an import hook, are told why a name is missing.
    """
    try:
        return _plain(package, name)
    except AttributeError:
        own = _plain(package, "__name__")
        raise AttributeError(
            f"{own} has no {name!r} yet: this thread is importing it. What runs amid an import (the "
            f"function of sys.settrace or sys.setprofile, an import hook) can use {own} afterwards, or "
            f"where the program has asked for one of its names before",
            name=name,
            obj=package,
        ) from None


def _module(package: str, name: str) -> ModuleType | None:
    """The module of that name of a package, imported if it has to be; None if there is none."""
    full = f"{package}.{name}"
    if full not in sys.modules and (name[:2] == "__" or importlib.util.find_spec(full) is None):
        return None
    return importlib.import_module(full)


def _finish(package: _Package, run: _Run) -> None:
    """Run the code of the package, or wait until another thread has.
    An exception leaves it to the next who asks.
    """
    with _calm, run.lock:
        if type(package) is not _Package:
            return
        run.owner = get_ident()
        try:
            names = _plain(package, "__dict__")
            for name, found in list(run.modules.items()):
                names.setdefault(name, found)
            _plain(package, "__loader__").run(package)
            run.done = True
            for name, found in list(run.modules.items()):
                names.setdefault(name, found)
            ModuleType.__setattr__(package, "__class__", ModuleType)
        finally:
            run.owner = 0


class _Miss:
    """`__getattr__` of a module without one: says of a name that PyTorch has what to do instead."""

    __slots__ = ("module",)

    def __init__(self, module: str) -> None:
        self.module = module

    def __call__(self, name: str) -> Any:
        if name[:2] == "__":  # Python's own question
            raise AttributeError(f"module {self.module!r} has no attribute {name!r}")
        from .._torch_names.absent import answer  # at the first miss

        return answer(self.module)(name)


def name_place(value: Any, module: str, name: str) -> None:
    """Make a function or class of a private module say that its place is the public `module`.

    Pickles hold that place, so a private module can move, or be split, and no file breaks.
    """
    if callable(value) and getattr(value, "__qualname__", None) == name:
        own = getattr(value, "__module__", None)
        if isinstance(own, str) and own.startswith("taeda.") and "._" in own:
            value.__module__ = module


class _Loader(SourceFileLoader):
    """Runs modules at once, counted, and packages when they are asked for something."""

    calm = False  # from the making of a module to its end
    again = False  # a handler, which came while Python looked for the module, has imported it

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        if "._" not in spec.name:
            _wait_for_taeda()  # here, for whoever looks for a module holds the lock of all imports
        # Where the import system goes on to run the module, which it shows to others before that.
        self.calm = sys._getframe(2).f_code.co_name == "_load_unlocked"
        if self.calm:
            _calm.__enter__()
            self.again = spec.name in sys.modules
        if self.again:
            return sys.modules[spec.name]
        if spec.submodule_search_locations is None or spec.name in AT_ONCE or "._" in spec.name:
            return None
        _runs[spec.name] = _Run()
        return _Package(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        try:
            if type(module) is not _Package and not self.again:
                self.run(module)
        finally:
            self.again = False
            if self.calm:
                self.calm = False
                _calm.__exit__()

    def run(self, module: ModuleType) -> None:
        """Execute the code of the module."""
        _here.loading = getattr(_here, "loading", 0) + 1
        try:
            with _calm:
                super().exec_module(module)
        finally:
            _here.loading -= 1
        if "._" not in module.__name__:
            names = module.__dict__
            names.setdefault("__getattr__", _Miss(module.__name__))
            for name in names.get("__all__", ()):
                name_place(names.get(name), module.__name__, name)


class _First(SourceFileLoader):
    """Runs the code of `taeda`, while threads that want a part of it wait."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(name, path)
        self.thread = get_ident()
        self.over = allocate_lock()
        self.over.acquire()

    def exec_module(self, module: ModuleType) -> None:
        try:
            with _calm:
                super().exec_module(module)
        finally:
            self.thread = 0
            self.over.release()

    def wait(self) -> None:
        if self.thread not in (0, get_ident()):
            with self.over:
                pass


def begin(spec: ModuleSpec) -> ModuleType:
    """The module `taeda`, empty, where all is ready for other threads; Python's loader of compiled
    modules asks for it.
    """
    _run_source(spec)
    install_packages()
    return ModuleType(spec.name)


def _run_source(spec: ModuleSpec) -> None:
    """Make `spec`, of the compiled package, that of its `__init__.py`, with the folders of all parts."""
    assert spec.origin is not None
    source = os.path.join(os.path.dirname(spec.origin), "__init__.py")
    spec.origin, spec.loader, spec.cached = source, _First(spec.name, source), None
    spec.submodule_search_locations = extend_path(spec.submodule_search_locations or [], spec.name)


def _again(path: Any) -> ModuleSpec | None:
    spec = PathFinder.find_spec("taeda", path)
    if spec is not None and isinstance(spec.loader, ExtensionFileLoader):
        _run_source(spec)
    return spec


def _wait_for_taeda() -> None:
    loader = getattr(getattr(sys.modules.get("taeda"), "__spec__", None), "loader", None)
    if type(loader) is _First:
        loader.wait()


class _Announced(SourceFileLoader):
    """Loads a module of another package, and tells it of taeda."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        importlib.import_module("taeda._neighbours").register(module)


def _announced(fullname: str, path: Any) -> ModuleSpec | None:
    spec = PathFinder.find_spec(fullname, path)
    if spec is not None and type(spec.loader) is SourceFileLoader:
        spec.loader = _Announced(spec.loader.name, spec.loader.path)
        return spec
    return None


def greet_neighbours() -> None:
    """Tell those of taeda that were imported before it."""
    for name in NEIGHBOURS & sys.modules.keys():
        importlib.import_module("taeda._neighbours").register(sys.modules[name])


class _Finder:
    """Finds modules of ours as Python does, and gives them the loader above."""

    @staticmethod
    def find_spec(fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname == "taeda":  # again: reloaded, or gone from sys.modules
            return _again(path)
        if not fullname.startswith("taeda."):
            return _announced(fullname, path) if fullname in NEIGHBOURS else None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = _Loader(spec.loader.name, spec.loader.path)
            places = spec.submodule_search_locations
            if places is not None and fullname in JOINED:  # before its own code has said so
                spec.submodule_search_locations = extend_path(places, fullname)
        return spec


def install_packages() -> None:
    """Put the finder before Python's, once."""
    if _Finder not in sys.meta_path:
        _refuse_second(_Finder)
        sys.meta_path.insert(0, _Finder)
