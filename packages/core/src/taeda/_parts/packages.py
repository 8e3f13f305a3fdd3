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

import _signal  # type: ignore[import-not-found]  # in C, so nothing is imported that runs code
import gc
import importlib.util
import os.path
import sys
from _thread import RLock, _local, allocate_lock, get_ident
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


class _Calm:
    """Code of ours that is being imported is not interrupted by a program's own.

    The handler of a signal, or a finalizer, that runs amid an import and computes would be shown
    modules that are half filled: it is in the thread that imports, so it cannot wait. Signals for
    which Python has a handler come afterwards, and so do collections of garbage.
    """

    def __enter__(self) -> None:
        """The first of a thread counts. What comes before it has closed the door is not inside: it closes
        a door of its own, and leaves all as it found it.
        """
        if depth := getattr(_here, "depth", 0):
            _here.depth = depth + 1
            return
        collects = gc.isenabled()
        gc.disable()
        mask = None
        if hasattr(_signal, "pthread_sigmask"):
            handled = [n for n in range(1, _signal.NSIG) if n not in _OF_ERRORS and _is_handled(n)]
            mask = _signal.pthread_sigmask(_signal.SIG_BLOCK, ())
            try:  # the call runs handlers of signals that came before it
                _signal.pthread_sigmask(_signal.SIG_BLOCK, handled)
            except BaseException:
                _open(collects, mask)
                raise
        _here.collects, _here.mask = collects, mask
        _here.depth = 1

    def __exit__(self, *exception: object) -> None:
        """The last of a thread lets come what waited."""
        if _here.depth > 1:
            _here.depth -= 1
            return
        collects, mask = _here.collects, _here.mask  # what comes from here on writes its own
        _here.depth = 0
        _open(collects, mask)


def _open(collects: bool, mask: Any) -> None:
    """Let collections and signals in as they were."""
    if collects:
        gc.enable()
    if mask is not None:
        _signal.pthread_sigmask(_signal.SIG_SETMASK, mask)


#: signals that tell of the instruction at hand: they cannot wait
_OF_ERRORS = frozenset(
    getattr(_signal, name, 0)
    for name in ("SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT", "SIGTRAP", "SIGSYS")
)


def _is_handled(number: int) -> bool:
    try:
        return callable(_signal.getsignal(number))
    except ValueError:  # no such signal
        return False


_calm = _Calm()


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
            return _plain(self, name)
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

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        if "._" not in spec.name:
            _wait_for_taeda()  # here, for whoever looks for a module holds the lock of all imports
        # Where the import system goes on to run the module, which it shows to others before that.
        self.calm = sys._getframe(2).f_code.co_name == "_load_unlocked"
        if self.calm:
            _calm.__enter__()
        if spec.submodule_search_locations is None or spec.name in AT_ONCE or "._" in spec.name:
            return None
        _runs[spec.name] = _Run()
        return _Package(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        try:
            if type(module) is not _Package:
                self.run(module)
        finally:
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
    """Put the finder before Python's, once. ImportError if there is one of an earlier import, whose
    modules were taken from `sys.modules`: the compiled core is that one's still.
    """
    for finder in sys.meta_path:
        if finder is _Finder:
            return
        if _full_name(finder) == _full_name(_Finder):
            raise ImportError(
                "taeda was imported in this process before, and its modules were removed from sys.modules: "
                "its compiled part cannot be imported twice. Keep the modules, or start another process"
            )
    sys.meta_path.insert(0, _Finder)


def _full_name(finder: Any) -> tuple[Any, Any]:
    return getattr(finder, "__module__", None), getattr(finder, "__name__", None)
