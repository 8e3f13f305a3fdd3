"""Build the native core: as a hatchling hook for wheels, or in place with
`python packages/core/hatch_build.py`.

Three kinds of C: kernels are compiled once for each instruction set; what touches Python gets
Python.h and the limited API of 3.11, so that one library serves every later Python; the rest is
plain C. Part of the C is generated from the op table (`taeda/_table`) into the build folder.
TAEDA_SANITIZE=address,undefined builds an instrumented library into a folder of its own and prints
that folder, for use as TAEDA_NATIVE; so do TAEDA_DEBUG=1 with a library that watches what lies
behind its blocks of memory (`runtime/canary.h`; an instrumented one does too), and TAEDA_PADDING=40
with tensors that are laid out otherwise, by so many bytes.

In place, objects stay in `build/`, for the next time. A wheel leaves nothing in the checkout: its
objects lie in the user's cache, or in `build/` where that is there already.
`python packages/core/hatch_build.py --commands` writes `compile_commands.json`.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
CSRC = HERE / "csrc"
PACKAGE = HERE / "src" / "taeda"
BUILD = HERE / "build"
LIMITED_API = "-DPy_LIMITED_API=0x030B0000"  # cffi's own default is older and truncates pointers
LIBRARY = "_core.abi3.so"
ENTRY = "__init__.abi3.so"  # the package itself, see csrc/package

# Vectors wider than the machine's registers pass between our own functions only, whatever that ABI is called.
ISA_FLAGS: dict[str, tuple[str, ...]] = {"generic": ("-Wno-psabi",)}
if platform.machine() in ("x86_64", "AMD64"):
    # Processors without AVX2 are older than 2013. The kernels' words are vectors as they stand, so -O1 costs
    # them little, and the compiler takes two fifths of the time.
    ISA_FLAGS["generic"] = ("-Wno-psabi", "-O1")
    ISA_FLAGS["avx2"] = ("-mavx2", "-mfma", "-mf16c")
    ISA_FLAGS["avx512"] = (
        *("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mf16c"),
        "-mprefer-vector-width=512",
    )
# A quarter of a second for each kernel that reads it: as long as some take to compile.
HEADERS = {"avx2": "immintrin.h", "avx512": "immintrin.h"}
# Kernels are compiled with the vectorizer of -O3 (that of -O2 leaves loops of unknown length as
# they stand), but without its copies of loops for each value of what does not change in them: a
# tenth of the time, and no slower.
LEAN = ("-O2", "-fvect-cost-model=dynamic")
# Those whose loops gain from it: they choose by an optimizer's flags, a window's size, a loss's
# bound, a line's step.
COPIED = {"any", "bf16", "bitwise", "convert", "extrema", "indexing", "loss", "moments"}
COPIED |= {"optim", "pooling", "random", "scan", "softmax"}
# In two of them only some of the copies bring anything.
FEWER = dict.fromkeys(
    ("indexing", "pooling"), ("-fno-ipa-cp-clone", "-fno-peel-loops", "-fno-split-loops")
)
# 2,800 functions that do nothing but call one: -O3 finds nothing in them, and takes half as long again.
CALLS = {"entries": ("-O1", "-foptimize-sibling-calls")}
# What runs once a call of microseconds, beginnings of paths below csrc: at -O1 no call is measurably
# slower, and the compiler takes half of the time.
CALM = ("cuda/", "ops/attention", "ops/distance", "ops/fft", "ops/linalg/", "ops/loss_")
CALM += ("ops/optim", "ops/recurrent", "ops/resample", "ops/sorting/", "ops/statistics")
# Folders of csrc, from the lowest layer up. What touches Python is BOUND; cpu holds kernels and
# what drives them.
PLAIN = ("runtime", "cuda", "ops")
BOUND = ("object", "graph", "dispatch", "backward", "abi", "binding")
CFLAGS = (
    *("-O3", "-g0", "-std=gnu11", "-fPIC", "-fvisibility=hidden", f"-ffile-prefix-map={HERE}=."),
    # No fast-math: NaN and infinity are kept, and no ISA fuses what another does not.
    *("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off", "-falign-loops=32"),
    *("-Wall", "-Wextra", "-Werror=implicit"),
    *("-Wno-unused-parameter", "-Wno-missing-field-initializers"),
)
LDFLAGS = ("-lm", "-lpthread", "-ldl")
REPRODUCIBLE = ("-Wl,--build-id=none", "-s")  # for wheels: the same sources give the same bytes
# What a debugger needs to look through a kernel's frame to its caller; nothing throws through
# kernels, for they call nobody.
NO_KERNEL_FRAMES = "SECTIONS { /DISCARD/ : { %s } } INSERT BEFORE .eh_frame;\n"


@contextlib.contextmanager
def _leaving_no_bytecode() -> Iterator[None]:
    """A checkout that only gives a wheel is left as it was: no `__pycache__` either."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _load(name: str, path: Path) -> ModuleType:
    """Import a file, or a folder with `__init__.py`, as top-level `name`: taeda itself cannot be
    imported yet.
    """
    folder = [str(path)] if path.is_dir() else None
    file = path / "__init__.py" if path.is_dir() else path
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folder)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    with _leaving_no_bytecode():
        spec.loader.exec_module(module)
    return module


cc = _load("_taeda_cc", PACKAGE / "_build" / "cc.py")
stubs = _load("_taeda_stubs", PACKAGE / "_build" / "stubs.py")
device_loops = _load("_taeda_device_loops", PACKAGE / "_build" / "device_loops.py")
device_text = _load("_taeda_device_text", PACKAGE / "_device_text")


def build_native(progress: Callable[[str], object] = lambda line: None) -> Path:
    """Generate, compile and link the native core in place, or a variant that variables ask for;
    return the library.
    """
    variant = _variant()
    folder = BUILD / "-".join(["native", *variant])
    out = folder / "lib" / LIBRARY if variant else PACKAGE / "_native" / LIBRARY
    if not variant:
        _build_entry(folder, PACKAGE / ENTRY, (), progress)
    return _build(folder, out, PACKAGE, (), progress)


def build_wheel(folder: Path, progress: Callable[[str], object]) -> dict[str, str]:
    """Build a stripped library in `folder`; return what the wheel gets: files by their places in it."""
    folder.mkdir(parents=True, exist_ok=True)
    beside = folder / "package"
    shutil.rmtree(beside, ignore_errors=True)  # of an older table
    library = _build(
        folder, folder / "wheel" / LIBRARY, beside, (*REPRODUCIBLE, *_smaller(folder)), progress
    )
    made = [path for path in sorted(beside.rglob("*")) if path.is_file()]
    entry = _build_entry(folder, folder / "wheel" / ENTRY, REPRODUCIBLE, progress)
    return {
        str(library): f"taeda/_native/{LIBRARY}",
        str(entry): f"taeda/{ENTRY}",
        **{str(path): f"taeda/{path.relative_to(beside).as_posix()}" for path in made},
        **{str(CSRC / name): f"taeda/_device_text/text/{name}" for name in device_text.files()},
    }


def _smaller(folder: Path) -> tuple[str, ...]:
    """Flags that leave the unwind tables of kernels out, 350 kB; none for linkers that do not know
    such scripts.
    """
    told = subprocess.run(
        [*cc.compiler(), "-Wl,--version"], capture_output=True, text=True, check=False
    )
    if "GNU ld" not in told.stdout:
        return ()
    script = folder / "wheel.ld"
    # half-written: no library
    script.write_text(NO_KERNEL_FRAMES % " ".join(f"*-{isa}-*.o(.eh_frame)" for isa in ISA_FLAGS))
    return ("-Wl,-T," + str(script),)


def _build(
    folder: Path,
    out: Path,
    package: Path,
    extra_ldflags: tuple[str, ...],
    progress: Callable[[str], object],
) -> Path:
    cc.require_tools()
    link = (*instrument(), *extra_ldflags, *LDFLAGS)
    made = units(generate(folder / "generated", package), folder / "generated")
    return cc.build(
        made, out, folder, (*CFLAGS, *instrument(), *_watched()), link, progress=progress
    )


def _build_entry(
    folder: Path, out: Path, extra_ldflags: tuple[str, ...], progress: Callable[[str], object]
) -> Path:
    """The package `taeda`, whose creation Python runs before any other thread sees it."""
    cc.require_tools()
    return cc.build(entry_units(), out, folder, CFLAGS, extra_ldflags, progress=progress)


@contextlib.contextmanager
def wheel_folder() -> Iterator[Path]:
    """Where a wheel's objects lie: `build/` of a checkout that has it, else the user's cache, so
    that a second build is quick.

    What is unpacked from a source distribution is built once and has no place that comes again: a
    temporary folder.
    """
    if (BUILD / "native").is_dir():
        yield BUILD / "native"
        return
    try:
        kept = None if (HERE / "PKG-INFO").is_file() else _cache()
    except OSError:  # no home, or one that cannot be written
        kept = None
    if kept:
        yield kept
    else:
        with tempfile.TemporaryDirectory() as temporary:
            yield Path(temporary)


def _cache() -> Path:
    """The folder of this checkout in the user's cache. Those of checkouts that are gone go, too."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    root = Path(os.environ.get("TAEDA_CACHE_DIR") or Path(home) / "taeda") / "build"
    for told in root.glob("*/checkout"):
        if not Path(told.read_text()).is_dir():
            shutil.rmtree(told.parent, ignore_errors=True)
    folder = root / hashlib.sha256(str(HERE).encode()).hexdigest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "checkout").write_text(str(HERE))  # half-written: names no folder, so the cache goes
    return folder


def write_commands(root: Path) -> Path:
    """Write `compile_commands.json`, from which editors learn the flags of every C file; return it."""
    folder = BUILD / "native"
    made = units(generate(folder / "generated"), folder / "generated")
    found = cc.Build(folder, cc.compiler(), CFLAGS).commands(made)
    target = root / "compile_commands.json"
    target.write_text(json.dumps(found, indent=1) + "\n")  # half-written: an editor says so
    return target


def _variant() -> list[str]:
    """What this library has that the one in the tree has not, as words for its folder."""
    sanitize = os.environ.get("TAEDA_SANITIZE", "")
    return [
        *filter(None, sanitize.split(",")),
        *(f"padding{size}" for size in filter(None, [_padding()])),
        *(["debug"] if _debug() else []),
    ]


def _debug() -> bool:
    return bool(int(os.environ.get("TAEDA_DEBUG") or 0))


def _padding() -> int:
    return int(os.environ.get("TAEDA_PADDING") or 0)


def _watched() -> tuple[str, ...]:
    layout = ("-O1", f"-DTD_TENSOR_PADDING={_padding()}") if _padding() else ()
    return (*layout, *(("-DTAEDA_DEBUG",) if _debug() else ()))


def _alike() -> bool:
    """Whether the library is there to be checked and not to be fast: all files have one level, but for
    kernels, which are compiled as they stand in a fourth less time.
    """
    return bool(instrument() or _padding())


def instrument() -> tuple[str, ...]:
    """Flags of the sanitizers that TAEDA_SANITIZE names."""
    names = os.environ.get("TAEDA_SANITIZE", "")
    if not names:
        return ()
    return (
        *("-O1", "-g1", "-fno-omit-frame-pointer"),
        *(f"-fsanitize={names}", "-fno-sanitize-recover=undefined"),
    )


def units(
    generated: list[Path],
    folder: Path,
    isas: dict[str, tuple[str, ...]] | None = None,
    headers: tuple[Path, ...] = (),
) -> list[Any]:
    """Every object of the library: kernels for each instruction set, what touches Python, and the
    rest of the C.

    `isas` and `headers`, Python's, are those of another machine when the compiler is one for that machine.
    """
    include = tuple(f"-I{path}" for path in (CSRC, folder, PACKAGE / "include"))
    python = (*include, *_with_python(headers))
    version = _version()
    return [
        *plain_units(folder, isas),
        *(
            cc.Unit(path, (*python, *CALLS.get(path.stem, ())), version, header="Python.h")
            for path in _sources(BOUND)
        ),
        # What cffi writes calls memset, and Python.h of the limited API no longer brings its header.
        *(cc.Unit(path, (*python, "-include", "string.h"), version) for path in generated),
    ]


def entry_units(headers: tuple[Path, ...] = ()) -> list[Any]:
    """The objects of the package `taeda` itself. `headers` as in `units`."""
    flags = (f"-I{CSRC}", *_with_python(headers))
    return [cc.Unit(path, flags, _version()) for path in _sources(("package",))]


def _with_python(headers: tuple[Path, ...] = ()) -> tuple[str, ...]:
    """Flags of what touches Python. Its header comes before all, so a build can keep it as it was read."""
    found = (f"-I{path}" for path in headers or (cc.python_include(),))
    return (*found, LIMITED_API, "-DPY_SSIZE_T_CLEAN=", "-include", "Python.h")


def _version() -> str:
    """A tag, so that two Pythons that share a folder do not undo each other's objects."""
    return f"py{sys.version_info.major}{sys.version_info.minor}"


def plain_units(folder: Path, isas: dict[str, tuple[str, ...]] | None = None) -> list[Any]:
    """The objects that know nothing of Python: kernels for each of `isas` (this machine's), their
    drivers, runtime and operators.
    """
    include = tuple(f"-I{path}" for path in (CSRC, folder, PACKAGE / "include"))
    kernels = [path for path in _sources(("cpu",)) if not _runs_once(path)]
    once = [*_sources(PLAIN), *(path for path in _sources(("cpu",)) if _runs_once(path))]
    return [
        *(
            cc.Unit(
                path,
                (*include, f"-DTD_ISA={isa}", *_level(path), *flags, *("-O0",) * _alike()),
                isa,
                header=HEADERS.get(isa, ""),
            )
            for path in kernels
            for isa, flags in (isas or ISA_FLAGS).items()
        ),
        *(cc.Unit(path, (*include, *_calm(path))) for path in once),
    ]


def _calm(path: Path) -> tuple[str, ...]:
    place = path.relative_to(CSRC).as_posix()
    return ("-O1",) if place.startswith(CALM) and not _alike() else ()


def _level(kernel: Path) -> tuple[str, ...]:
    """The level of a kernel, if it is not the one that all C has: -O3, or what an instrumented
    library asks for, or one with padded tensors.
    """
    if _alike():
        return ()
    return FEWER.get(kernel.stem, ()) if kernel.stem in COPIED else LEAN


def _sources(rooms: tuple[str, ...]) -> list[Path]:
    return [path for room in rooms for path in sorted((CSRC / room).rglob("*.c"))]


def _runs_once(path: Path) -> bool:
    """Is this file of cpu/ compiled once? Drivers are, which pick among the instruction sets at run
    time, and loops that few programs need.
    """
    return path.parent.name == "run" or path.stem.endswith(("_run", "_plan"))


def generate(folder: Path, package: Path = PACKAGE) -> list[Path]:
    """Write what the op table and the module header imply; return the C files among it.
    Type stubs go to `package`.
    """
    package.mkdir(parents=True, exist_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    _load("_table", PACKAGE / "_table")
    with _leaving_no_bytecode(), cc.locked(folder):
        from _table import _generate  # the table, imported as a top-level package

        stubs.write(_generate.rows(), PACKAGE, package)
        device_loops.write(CSRC, package, device_text)
        written = [Path(path) for path in _generate.generate(folder)]
        return [*(path for path in written if path.suffix == ".c"), _glue(folder / "_core.c")]


def _glue(target: Path) -> Path:
    """The module `taeda._native._core` as cffi writes it, from the declarations marked in
    binding/module.h.
    """
    import cffi

    header = (CSRC / "binding" / "module.h").read_text()
    declared = header.partition("/* cdef: begin */")[2].partition("/* cdef: end */")[0]
    ffi = cffi.FFI()
    ffi.cdef(declared if "td_register" in declared else f"void td_register(void);\n{declared}")
    ffi.set_source("taeda._native._core", '#include "binding/module.h"')
    with contextlib.redirect_stdout(None):  # it would announce every visit
        ffi.emit_c_code(str(target))
    return target


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # run in place, in an environment without hatchling
    BuildHookInterface = object


class NativeHook(BuildHookInterface):  # type: ignore[misc]
    """What hatchling calls: an editable install builds in place, a wheel gets a stripped library of
    its own.
    """

    PLUGIN_NAME = "custom"
    _folder: contextlib.AbstractContextManager[Path] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":  # a source distribution never compiles
            return
        try:
            if version == "editable":
                build_native(_tell)
                return
            self._folder = wheel_folder()
            files = build_wheel(self._folder.__enter__(), _tell)
        except (cc.NotReady, cc.CompileError) as error:
            self.app.abort(str(error))
        build_data["pure_python"] = False
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp311-abi3-{system}"
        build_data["force_include"].update(files)

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """The wheel is written: a temporary folder goes."""
        if self._folder is not None:
            self._folder.__exit__(None, None, None)


def _tell(line: str) -> None:
    print(f"taeda-core: {line}", flush=True)  # pip shows it with -v


def main() -> None:
    """Build in place; a variant prints its folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    words = "write compile_commands.json for editors, at the top of the checkout"
    parser.add_argument("--commands", action="store_true", help=words)
    parser.add_argument("-v", "--verbose", action="store_true", help="say what is compiled")
    options = parser.parse_args()
    try:
        if options.commands:
            print(write_commands(HERE.parent.parent))
            return
        library = build_native(_tell if options.verbose else lambda line: None)
    except (cc.NotReady, cc.CompileError) as problem:
        sys.exit(str(problem))
    if _variant():
        print(library.parent)


if __name__ == "__main__":
    main()
