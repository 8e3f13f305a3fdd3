"""Build the native core: as a hatchling hook for wheels, or in place with `python packages/core/hatch_build.py`.

Three kinds of C: kernels are compiled once for each instruction set; what touches Python gets Python.h and the
limited API of 3.11, so that one library serves every later Python; the rest is plain C. Part of the C is
generated from the op table (`taeda/_table`) into the build folder. TAEDA_SANITIZE=address,undefined builds an
instrumented library into a folder of its own and prints that folder, for use as TAEDA_NATIVE; so do TAEDA_DEBUG=1
with a library that watches what lies behind its blocks of memory (`runtime/canary.h`; an instrumented one does too), and
TAEDA_PADDING=40 with tensors that are laid out otherwise, by so many bytes.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import sys
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

HERE = Path(__file__).resolve().parent
CSRC = HERE / "csrc"
PACKAGE = HERE / "src" / "taeda"
BUILD = HERE / "build"
LIMITED_API = "-DPy_LIMITED_API=0x030B0000"  # cffi's own default is older and truncates pointers
LIBRARY = "_core.abi3.so"

# Vectors wider than the machine's registers pass between our own functions only, whatever that ABI is called.
ISA_FLAGS: dict[str, tuple[str, ...]] = {"generic": ("-Wno-psabi",)}
if platform.machine() in ("x86_64", "AMD64"):
    ISA_FLAGS["avx2"] = ("-mavx2", "-mfma", "-mf16c")
    ISA_FLAGS["avx512"] = (
        *("-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", "-mfma", "-mf16c"),
        "-mprefer-vector-width=512",
    )
# Folders of csrc, from the lowest layer up. What touches Python is BOUND; cpu holds kernels and what drives them.
PLAIN = ("runtime", "cuda", "ops")
BOUND = ("object", "graph", "dispatch", "backward", "abi", "binding")
CFLAGS = (
    *("-O3", "-g0", "-std=gnu11", "-fPIC", "-fvisibility=hidden", f"-ffile-prefix-map={HERE}=."),
    # No fast-math: NaN and infinity are kept, and no ISA fuses what another does not.
    *("-fno-math-errno", "-fno-trapping-math", "-ffp-contract=off"),
    *("-Wall", "-Wextra", "-Werror=implicit"),
    *("-Wno-unused-parameter", "-Wno-missing-field-initializers"),
)
LDFLAGS = ("-lm", "-lpthread", "-ldl")
REPRODUCIBLE = ("-Wl,--build-id=none", "-s")  # for wheels: the same sources give the same bytes


def _load(name: str, path: Path) -> ModuleType:
    """Import a file, or a folder with `__init__.py`, as top-level `name`: taeda itself cannot be imported yet."""
    folder = [str(path)] if path.is_dir() else None
    file = path / "__init__.py" if path.is_dir() else path
    spec = importlib.util.spec_from_file_location(name, file, submodule_search_locations=folder)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


cc = _load("_taeda_cc", PACKAGE / "_build" / "cc.py")
stubs = _load("_taeda_stubs", PACKAGE / "_build" / "stubs.py")
device_loops = _load("_taeda_device_loops", PACKAGE / "_build" / "device_loops.py")
device_text = _load("_taeda_device_text", PACKAGE / "cuda" / "_text.py")


def build_native(out: Path | None = None, extra_ldflags: tuple[str, ...] = ()) -> Path:
    """Generate, compile and link the native core; return the library. In place unless `out` says where."""
    cc.require_tools()
    variant = _variant()
    folder = BUILD / "-".join(["native", *variant])
    generated = _generate(folder / "generated")
    default = folder / "lib" / LIBRARY if variant else PACKAGE / "_native" / LIBRARY
    units = _units(generated, folder / "generated")
    instrument = _sanitizer(os.environ.get("TAEDA_SANITIZE", ""))
    layout = tuple(f"-DTD_TENSOR_PADDING={size}" for size in filter(None, [_padding()]))
    guard = ("-DTAEDA_DEBUG",) if _debug() else ()
    link = (*instrument, *extra_ldflags, *LDFLAGS)
    return cc.build(units, out or default, folder, (*CFLAGS, *instrument, *layout, *guard), link)


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


def _sanitizer(names: str) -> tuple[str, ...]:
    if not names:
        return ()
    return (
        *("-O1", "-g1", "-fno-omit-frame-pointer"),
        *(f"-fsanitize={names}", "-fno-sanitize-recover=undefined"),
    )


def _units(generated: list[Path], folder: Path) -> list[Any]:
    include = tuple(f"-I{path}" for path in (CSRC, folder, PACKAGE / "include"))
    python = (*include, f"-I{cc.python_include()}", LIMITED_API)
    # Tagged, so that two Pythons that share this folder do not undo each other's objects.
    version = f"py{sys.version_info.major}{sys.version_info.minor}"
    plain, bound = _sources(PLAIN), _sources(BOUND)
    kernels = [path for path in _sources(("cpu",)) if not _runs_once(path)]
    plain += [path for path in _sources(("cpu",)) if _runs_once(path)]
    return [
        *(
            cc.Unit(path, (*include, f"-DTD_ISA={isa}", *flags), isa)
            for path in kernels
            for isa, flags in ISA_FLAGS.items()
        ),
        *(cc.Unit(path, python, version) for path in bound),
        # What cffi writes calls memset, and Python.h of the limited API no longer brings its header.
        *(cc.Unit(path, (*python, "-include", "string.h"), version) for path in generated),
        *(cc.Unit(path, include) for path in plain),
    ]


def _sources(rooms: tuple[str, ...]) -> list[Path]:
    return [path for room in rooms for path in sorted((CSRC / room).rglob("*.c"))]


def _runs_once(path: Path) -> bool:
    """Is this file of cpu/ a driver, which picks among the instruction sets at run time, and no kernel?"""
    return path.parent.name == "run" or path.stem.endswith(("_run", "_plan"))


def _generate(folder: Path) -> list[Path]:
    """Write what the op table and the module header imply, type stubs too; return the C files among it."""
    folder.mkdir(parents=True, exist_ok=True)
    _load("_table", PACKAGE / "_table")
    from _table._generate import generate, rows  # the table, imported as a top-level package

    with cc.locked(folder):
        stubs.write(rows(), PACKAGE)
        device_loops.write(CSRC, PACKAGE, device_text)
        written = [Path(path) for path in generate(folder)]
        return [*(path for path in written if path.suffix == ".c"), _glue(folder / "_core.c")]


def _glue(target: Path) -> Path:
    """The module `taeda._native._core` as cffi writes it, from the declarations marked in binding/module.h."""
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
    """What hatchling calls: an editable install builds in place, a wheel gets a stripped library of its own."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":  # a source distribution never compiles
            return
        try:
            if version == "editable":
                build_native()
                return
            library = build_native(BUILD / "wheel" / LIBRARY, REPRODUCIBLE)
        except (cc.NotReady, cc.CompileError) as error:
            self.app.abort(str(error))
        build_data["pure_python"] = False
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp311-abi3-{system}"
        build_data["force_include"][str(library)] = f"taeda/_native/{LIBRARY}"
        for name in device_text.files():
            build_data["force_include"][str(CSRC / name)] = f"taeda/cuda/text/{name}"


if __name__ == "__main__":
    try:
        library = build_native()
    except (cc.NotReady, cc.CompileError) as problem:
        sys.exit(str(problem))
    if _variant():
        print(library.parent)
