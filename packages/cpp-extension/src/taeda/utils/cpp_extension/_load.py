"""Compile while a program runs: `load` from files, `load_inline` from texts."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from taeda._core_api import building as cc

from . import _cuda, _nvrtc
from ._build import Request, building, default_root, link_flags, units
from ._module import import_library, load_library

__all__ = ["load", "load_inline"]

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_FUNCTION = re.compile(r"[A-Za-z_]\w*(::[A-Za-z_]\w*)*", re.ASCII)
Strings = str | Sequence[str]
NO_SYCL = "taeda has no SYCL devices, and so no SYCL toolchain is supported: write C++ or CUDA"


@dataclass
class _Loaded:
    """The versions of one extension that this process has: what each was linked from, and its module."""

    keys: list[str] = field(default_factory=list)
    modules: dict[str, ModuleType | str] = field(default_factory=dict)


_loaded: dict[Path, _Loaded] = {}


def load(
    name: str,
    sources: Strings,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | os.PathLike[str] | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    is_standalone: bool = False,
    keep_intermediates: bool = True,
    *,
    torch_headers: bool | None = None,
) -> Any:
    """Compile `sources` and return the module they define, at once if nothing changed.

    The sources are C (`.c`), C++ (`.cpp` and its kin, C++17) or CUDA (`.cu`, by nvcc). What they
    make may be an extension of taeda (see `taeda/taeda.hpp` and `taeda/abi.h`), whose functions
    become the module's, or a Python extension module called `name`. With `is_python_module=False`
    the library is loaded for its side effects and its path returned; with `is_standalone=True` too,
    an executable is built and its path returned.

    It is built in `build_directory`, else in $TAEDA_EXTENSIONS_DIR/name, else in the user's cache.
    $CXX, $CC and $CUDA_HOME name compilers, $MAX_JOBS says how many run at once. Processes that
    build one extension at one time build it once. Flags, texts of sources and headers, and
    compilers are the key: a change of any of them makes a new library, in the same process under a
    new name (`name_v1.so`), so that a stale one is never met.

    Args:
        name: the module's name, and the namespace of its operators
        sources: one path or several
        extra_cflags: further flags of the C and C++ compilers, one a text (default: None)
        extra_cuda_cflags: further flags of nvcc (default: None)
        extra_sycl_cflags: none may be given: there is no SYCL here (default: None)
        extra_ldflags: further flags of the linker (default: None)
        extra_include_paths: folders of headers, searched before those of taeda (default: None)
        build_directory: where objects and the library lie (default: None)
        verbose: print each command and what the compiler says (default: False)
        with_cuda: True adds CUDA's headers and runtime library; None does where a source is CUDA
        with_sycl: must not be true (default: None)
        is_python_module: return a module; False returns the library's path (default: True)
        is_standalone: build an executable (default: False)
        keep_intermediates: leave the object files, which spare the next build their compilation
            (default: True)
        torch_headers: False takes torch's headers out of the search; else they are found behind
            all other folders (default: None)

    Raises FileNotFoundError for a missing source, ValueError for contradicting options, OSError for
    CUDA without a toolkit, RuntimeError with the compiler's words if it fails, ImportError if there
    is no module `name` in it.

    >>> import ctypes, tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     source = Path(folder, "seven.c")
    ...     _ = source.write_text("int seven(void) { return 7; }")
    ...     path = load("seven", source, build_directory=folder, is_python_module=False)
    ...     ctypes.CDLL(str(path)).seven()
    7
    """
    _refuse_sycl(with_sycl, extra_sycl_cflags, sources)
    if is_standalone and is_python_module:
        raise ValueError(
            "is_standalone=True builds an executable, which is no Python module: pass "
            "is_python_module=False with it"
        )
    paths = tuple(Path(path).absolute() for path in _texts(sources, "sources"))
    if not paths:
        raise ValueError("sources is empty: wanted at least one file to compile")
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"extension {name!r}: no source file {path}")
    has_cuda = any(path.suffix in _cuda.SUFFIXES for path in paths)
    request = Request(
        _checked(name),
        paths,
        _folder(name, build_directory),
        cflags=_flags(extra_cflags, "extra_cflags"),
        cuda_cflags=_flags(extra_cuda_cflags, "extra_cuda_cflags"),
        ldflags=_flags(extra_ldflags, "extra_ldflags"),
        include_paths=_flags(extra_include_paths, "extra_include_paths"),
        cuda=has_cuda if with_cuda is None else with_cuda,
        standalone=is_standalone,
        torch_headers=torch_headers is not False,
        verbose=verbose,
    )
    with building(request) as build:
        return _obtain(_for_this_machine(request), build, is_python_module, keep_intermediates)


def load_inline(
    name: str,
    cpp_sources: Strings,
    cuda_sources: Strings | None = None,
    sycl_sources: Strings | None = None,
    functions: Sequence[str] | Mapping[str, str] | str | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | os.PathLike[str] | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    with_sycl: bool | None = None,
    is_python_module: bool = True,
    with_pytorch_error_handling: bool = True,
    keep_intermediates: bool = True,
    use_pch: bool = False,
    no_implicit_headers: bool = False,
    *,
    torch_headers: bool | None = None,
) -> Any:
    """Compile C++ given as text and return the module; see `load` for what is not said here.

    `cpp_sources` are joined into `main.cpp` in the build folder, after `#include <taeda/taeda.hpp>`
    (unless `no_implicit_headers`). `functions` names those to bind: names, or names with
    docstrings. They take and return `taeda::Tensor` and plain values, as the header lists.
    `cuda_sources` go to `cuda.cu` and nvcc; to bind what they define, declare it in `cpp_sources`.
    Without nvcc, but with CuPy, NVRTC compiles them: device code only, whose `extern "C"` kernels
    become functions of the module, called with (grid, block, arguments).

    Exceptions never cross the boundary of an extension, so `with_pytorch_error_handling=False`
    changes nothing, and the header is so small that `use_pch` has nothing to speed up.

    Args:
        name: the module's name, and the namespace of its operators
        cpp_sources: one text of C++ or several
        cuda_sources: one text of CUDA or several (default: None)
        sycl_sources: none may be given: there is no SYCL here (default: None)
        functions: names to bind, or names with docstrings; none where the text binds itself
            (default: None)
        extra_cflags: further flags of the C and C++ compilers, one a text (default: None)
        extra_cuda_cflags: further flags of nvcc (default: None)
        extra_sycl_cflags: none may be given: there is no SYCL here (default: None)
        extra_ldflags: further flags of the linker (default: None)
        extra_include_paths: folders of headers, searched before those of taeda (default: None)
        build_directory: where objects and the library lie (default: None)
        verbose: print each command and what the compiler says (default: False)
        with_cuda: True adds CUDA's headers and runtime library; None does where a source is CUDA
        with_sycl: must not be true (default: None)
        is_python_module: return a module; False returns the library's path (default: True)
        with_pytorch_error_handling: changes nothing, as said above (default: True)
        keep_intermediates: leave the object files (default: True)
        use_pch: changes nothing, as said above (default: False)
        no_implicit_headers: put no #include in front of the text (default: False)
        torch_headers: True includes torch/extension.h in front and binds by its names, False
            taeda/taeda.hpp; None looks at the text

    >>> made = "taeda::full<float>({2}, float(x.numel() * x.numel()))"
    >>> square = "taeda::Tensor f(taeda::Tensor x) { return " + made + "; }"
    >>> load_inline("inline_example", square, functions=["f"]).f(taeda.zeros(3)).tolist()
    [9.0, 9.0]
    """
    _refuse_sycl(with_sycl, extra_sycl_cflags, sycl_sources or ())
    bound = _functions(functions)
    cpp, cuda = _texts(cpp_sources, "cpp_sources"), _texts(cuda_sources or (), "cuda_sources")
    for_torch = _for_torch(cpp, torch_headers)
    name_of_header = "torch/extension.h" if for_torch else "taeda/taeda.hpp"
    header = "" if no_implicit_headers else f"#include <{name_of_header}>\n"
    # NVRTC knows no host code
    implicit = not no_implicit_headers and bool(cuda) and _cuda.has_nvcc()
    texts = {
        "main.cpp": "\n".join(
            [header + cpp[0] if cpp else header, *cpp[1:], _binding(bound, for_torch)]
        )
    }
    if cuda:
        texts["cuda.cu"] = _CUDA_HEADER * implicit + "\n".join(cuda) + "\n"
    folder = _folder(name, build_directory)
    request = Request(
        _checked(name),
        tuple(folder / file for file in texts),
        folder,
        cflags=_flags(extra_cflags, "extra_cflags"),
        cuda_cflags=_flags(extra_cuda_cflags, "extra_cuda_cflags"),
        ldflags=_flags(extra_ldflags, "extra_ldflags"),
        include_paths=_flags(extra_include_paths, "extra_include_paths"),
        cuda=bool(cuda) if with_cuda is None else with_cuda,
        torch_headers=for_torch,
        verbose=verbose,
    )
    with building(request) as build:
        for file, text in texts.items():
            _write(folder / file, text)
        return _obtain(_for_this_machine(request), build, is_python_module, keep_intermediates)


_CUDA_HEADER = "#include <taeda/cuda.hpp>\n#include <cuda.h>\n#include <cuda_runtime.h>\n"


def _obtain(request: Request, build: cc.Build, as_module: bool, keep: bool) -> Any:
    """Compile, link and load under the lock, so that no other process puts its own library there in
    between.
    """
    objects = build.compile(units(request))
    flags = link_flags(request)
    if request.standalone:
        return str(build.link(objects, request.folder / request.name, flags))
    known = _loaded.setdefault(request.folder / request.name, _Loaded())
    device = [path.read_text() for path in request.device_sources]
    key = f"{as_module} {build.link_key(objects, flags)} {device} {request.cuda_cflags if device else ''}"
    if key not in known.modules:
        kernels: dict[str, Any] = {}
        for path in request.device_sources:
            kernels |= _nvrtc.kernels(path, request.cuda_cflags, _cuda.arch_flags())
        known.keys.append(key)
        number = len(known.keys) - 1
        suffix = f"_v{number}" if number else ""
        if number and all(path.suffix == ".c" for path in request.sources):
            # Plain C names its operators itself, by the macro: a second version needs another text,
            # and so another object.
            objects = build.compile(units(request, f"{request.name}{suffix}"))
        library = build.link(objects, request.folder / f"{request.name}{suffix}.so", flags)
        made = _use(request.name, library, as_module)
        if isinstance(made, ModuleType):
            vars(made).update(kernels)
        known.modules[key] = made
    if not keep:
        for path in objects:
            path.unlink(missing_ok=True)
    return known.modules[key]


def _for_this_machine(request: Request) -> Request:
    """Hand CUDA sources to NVRTC where there is CuPy and no nvcc."""
    device = tuple(path for path in request.sources if path.suffix in _cuda.SUFFIXES)
    if not device or _cuda.has_nvcc() or not _nvrtc.is_available():
        return request
    host = tuple(path for path in request.sources if path not in device)
    if not host:
        raise ValueError(
            f"extension {request.name!r}: without nvcc, CUDA sources need a C or C++ source beside them"
        )
    return replace(request, sources=host, device_sources=device, cuda=False)


def _use(name: str, library: Path, as_module: bool) -> ModuleType | str:
    if as_module:
        return import_library(name, library)
    load_library(name, library)
    return str(library)


def _write(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text() != text:
        path.write_text(text)  # half-written: differs, so the next build writes it again


_OF_TORCH = re.compile(
    r"\b(torch|at|c10)\s*::|\b(AT_DISPATCH|TORCH_|PYBIND11_)\w|#include *[<\"](torch|ATen|c10)/"
)


def _for_torch(sources: Sequence[str], asked: bool | None) -> bool:
    """Is the text written for torch's headers? Its own words say so, unless the caller does."""
    if asked is not None and not isinstance(asked, bool):
        raise TypeError(f"torch_headers must be a bool or None, not {type(asked).__name__}")
    return any(_OF_TORCH.search(text) for text in sources) if asked is None else asked


def _binding(functions: Mapping[str, str], for_torch: bool) -> str:
    lines = [
        f"    module.def({_quoted(f.rpartition('::')[2])}, &{f}, {_quoted(doc)});"
        for f, doc in functions.items()
    ]
    opens = (
        "PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {"
        if for_torch
        else "TAEDA_EXTENSION(module) {"
    )
    return "\n".join(["", opens, *lines, "}", ""]) if lines else ""


def _quoted(text: str) -> str:
    """A C string literal of any text: every byte that is not plain in octal."""
    plain = "".join(
        chr(b) if 32 <= b < 127 and b not in b'"\\?' else f"\\{b:03o}" for b in text.encode()
    )
    return f'"{plain}"'


def _functions(functions: Sequence[str] | Mapping[str, str] | str | None) -> dict[str, str]:
    if functions is None:
        return {}
    if isinstance(functions, str):
        functions = [functions]
    if not isinstance(functions, Mapping | list | tuple):
        raise ValueError(
            "functions must be a list of names or a dict from names to docstrings, got "
            f"{type(functions).__name__}"
        )
    pairs = (
        functions.items()
        if isinstance(functions, Mapping)
        else zip(functions, functions, strict=True)
    )
    for name, doc in pairs:
        if not (isinstance(name, str) and isinstance(doc, str) and _FUNCTION.fullmatch(name)):
            raise ValueError(f"functions: {name!r} is no name of a C++ function with a docstring")
    return dict(pairs if isinstance(functions, Mapping) else zip(functions, functions, strict=True))


def _checked(name: str) -> str:
    if not isinstance(name, str):
        raise TypeError(f"an extension's name must be a str, not {type(name).__name__}")
    if not _NAME.fullmatch(name):
        raise ValueError(
            "an extension's name becomes a module's and a file's: wanted letters, digits and "
            f"underscores, got {name!r}"
        )
    return name


def _folder(name: str, given: str | os.PathLike[str] | None) -> Path:
    if given is not None:
        return Path(given).absolute()
    root = os.environ.get("TAEDA_EXTENSIONS_DIR") or default_root()
    return Path(root).absolute() / _checked(name)


def _texts(value: Strings, what: str) -> list[str]:
    if not isinstance(value, str | os.PathLike | Sequence):
        raise TypeError(f"{what} must be a str or a list of str, not {type(value).__name__}")
    found = [value] if isinstance(value, str | os.PathLike) else list(value)
    for one in found:
        if not isinstance(one, str | os.PathLike):
            raise TypeError(
                f"{what} must be a str or a list of str, and has a {type(one).__name__}"
            )
    return [os.fspath(one) for one in found]


def _flags(value: Sequence[str] | None, what: str) -> tuple[str, ...]:
    if isinstance(value, str):
        raise TypeError(f"{what} must be a list of str, one flag each, got the text {value!r}")
    return tuple(_texts(value or (), what))


def _refuse_sycl(asked: bool | None, flags: object, sources: Strings) -> None:
    if asked or flags or any(str(path).endswith(".sycl") for path in _texts(sources, "sources")):
        raise NotImplementedError(NO_SYCL)
