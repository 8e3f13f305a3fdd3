"""For projects with a setup.py: extensions and the `build_ext` command that builds them."""

from __future__ import annotations

import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setuptools import Extension
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

from taeda._core_api import building as cc

from . import _cuda
from ._build import HERE, Request, building, include_paths, library_paths, link_flags, units

__all__ = ["BuildExtension", "CUDAExtension", "CppExtension"]

LIMITED_API = "0x030B0000"  # Python 3.11, the oldest that taeda runs on
GLUE = HERE / "python_module.c"
LANGUAGES = ("cxx", "nvcc")


def CppExtension(name: str, sources: list[str], *args: Any, **kwargs: Any) -> Extension:  # noqa: N802 - the API's name
    """A `setuptools.Extension` that finds taeda's headers. Arguments are those of Extension.

    The sources are C or C++ and make either an extension of taeda (TAEDA_EXTENSION), which then is
    also a Python module of this name, or a Python extension module by themselves.

    Args:
        name: the module's full name, with dots
        sources: files to compile, relative to setup.py

    >>> CppExtension("fast.sums", ["sums.cpp"]).language
    'c++'
    """
    return _extension(name, sources, args, kwargs, "cpu")


def CUDAExtension(name: str, sources: list[str], *args: Any, **kwargs: Any) -> Extension:  # noqa: N802 - the API's name
    """As CppExtension, with the headers and the runtime library of CUDA; `.cu` sources go to nvcc.

    `extra_compile_args` may be a dict with the keys "cxx" and "nvcc". Device code that is linked across files
    (`dlink=True`) is not supported: ValueError. OSError without a CUDA toolkit.

    Args:
        name: the module's full name, with dots
        sources: files to compile, relative to setup.py

    >>> CUDAExtension("fast.sums", ["sums.cu"], dlink=True)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: dlink: device code is not linked across files here...
    """
    if kwargs.pop("dlink", False) or kwargs.pop("dlink_libraries", ()):
        raise ValueError(
            "dlink: device code is not linked across files here; keep each kernel in one file"
        )
    return _extension(name, sources, args, kwargs, "cuda")


def _extension(
    name: str, sources: list[str], args: tuple[Any, ...], kwargs: dict[str, Any], device: str
) -> Extension:
    kwargs["include_dirs"] = [*(kwargs.get("include_dirs") or ()), *include_paths(device)]
    kwargs["library_dirs"] = [*(kwargs.get("library_dirs") or ()), *library_paths(device)]
    kwargs["language"] = "c++"
    made = Extension(name, sources, *args, **kwargs)
    vars(made)["taeda_cuda"] = device == "cuda"
    return made


class BuildExtension(build_ext):
    """The `build_ext` command that compiles with taeda's own driver: in parallel, and only what changed.

    `extra_compile_args` of an extension may be a dict with the keys "cxx" and "nvcc". With
    `py_limited_api=True` Py_LIMITED_API is defined as well. Options, by `with_options`:
    `no_python_abi_suffix=True` leaves the name of the Python version out of the file's name;
    `use_ninja` is accepted and changes nothing, as ninja is not used.

    >>> from setuptools import Distribution
    >>> extension = CppExtension("fast.sums", ["sums.cpp"])
    >>> of_setup = {"ext_modules": [extension], "cmdclass": {"build_ext": BuildExtension}}
    >>> type(Distribution(of_setup).get_command_obj("build_ext")) is BuildExtension
    True
    """

    use_ninja = True
    no_python_abi_suffix = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.use_ninja = kwargs.pop("use_ninja", self.use_ninja)
        self.no_python_abi_suffix = kwargs.pop("no_python_abi_suffix", self.no_python_abi_suffix)
        super().__init__(*args, **kwargs)

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """A subclass with `options` as its defaults. TypeError for an option that does not exist."""
        unknown = options.keys() - {"use_ninja", "no_python_abi_suffix"}
        if unknown:
            raise TypeError(
                f"BuildExtension has no option {', '.join(sorted(unknown))}; there are use_ninja "
                "and no_python_abi_suffix"
            )
        return type("BuildExtensionWithOptions", (cls,), options)

    def get_ext_filename(self, fullname: str) -> str:
        path = super().get_ext_filename(fullname)
        if not self.no_python_abi_suffix:
            return path
        return path.replace(sysconfig.get_config_var("EXT_SUFFIX"), ".so").replace(
            ".abi3.so", ".so"
        )

    def build_extension(self, ext: Extension) -> None:
        """Compile and link one extension; setuptools calls this for each."""
        out = Path(self.get_ext_fullpath(ext.name)).absolute()
        request = self._request(ext)
        try:
            with building(request) as build:
                objects = build.compile(self._units(request, ext))
                build.link(objects, out, (*link_flags(request), *self._stripped(request)))
        except MemoryError:
            raise
        except RuntimeError as error:
            raise CompileError(str(error)) from None

    def _stripped(self, request: Request) -> tuple[str, ...]:
        """Names that no other library finds are a seventh of a small wheel; a debugger alone reads them."""
        debugs = self.debug or any(
            flag.startswith("-g") and flag != "-g0" for flag in request.cflags
        )
        return () if debugs or sys.platform == "darwin" else ("-Wl,-s",)

    def _request(self, ext: Extension) -> Request:
        sources = tuple(Path(source).absolute() for source in ext.sources)
        given: Any = ext.extra_compile_args or {}
        flags = given if isinstance(given, Mapping) else {"cxx": given, "nvcc": given}
        if unknown := flags.keys() - set(LANGUAGES):
            raise ValueError(
                f"extra_compile_args: {sorted(unknown)} are none of the languages {LANGUAGES}"
            )
        defined = [
            f"-D{name}" if value is None else f"-D{name}={value}"
            for name, value in ext.define_macros
        ]
        defined += [f"-U{name}" for name in ext.undef_macros]
        folders = (*ext.include_dirs, *(self.include_dirs or ()), sysconfig.get_path("include"))
        cuda = any(path.suffix in _cuda.SUFFIXES for path in sources)
        return Request(
            ext.name.rpartition(".")[2],
            sources,
            Path(self.build_temp).absolute() / ext.name,
            cflags=(*defined, *flags.get("cxx", ())),
            cuda_cflags=(*defined, *flags.get("nvcc", ())),
            ldflags=_link_words(ext),
            include_paths=tuple(folders),
            cuda=cuda or getattr(ext, "taeda_cuda", False),
            verbose=bool(self.verbose),
        )

    def _units(self, request: Request, ext: Extension) -> list[cc.Unit]:
        limited = (f"-DPy_LIMITED_API={LIMITED_API}",)
        glue = Request(
            request.name,
            (GLUE,),
            request.folder,
            include_paths=request.include_paths,
            cflags=limited,
        )
        chosen = limited * bool(ext.py_limited_api)
        chosen += (f"-DPyInit_{request.name}=taeda_own_start",)  # see python_module.c
        own = [cc.Unit(u.source, (*u.flags, *chosen), u.tag, u.compiler) for u in units(request)]
        return [*own, *units(glue)]


def _link_words(ext: Extension) -> tuple[str, ...]:
    given: dict[str, Any] = vars(ext)
    return (
        *given["extra_objects"],
        *(f"-L{folder}" for folder in given["library_dirs"]),
        *(f"-Wl,-rpath,{folder}" for folder in given["runtime_library_dirs"]),
        *(f"-l{library}" for library in given["libraries"]),
        *(given["extra_link_args"] or ()),
        *(("-undefined", "dynamic_lookup") if sys.platform == "darwin" else ()),
    )
