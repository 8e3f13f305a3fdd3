"""Build operators for taeda from a shell.

python -m taeda.utils.cpp_extension new my_op       a package: kernel, derivative, tests and a wheel
python -m taeda.utils.cpp_extension build a.cpp     one library of the sources, for import_library
python -m taeda.utils.cpp_extension info            compilers, headers and folders that are used here
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from taeda._core_api.building import NotReady

from . import _cuda, _toolchain
from ._build import default_root, include_paths
from ._library import build_library, wheel_tag
from ._template import new_package


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except (OSError, RuntimeError, ValueError) as error:  # out of memory: it is printed like others
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    layout = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="python -m taeda.utils.cpp_extension", description=__doc__, formatter_class=layout
    )
    commands = parser.add_subparsers(required=True, metavar="{new,build,info}")
    new = commands.add_parser("new", help="make a package around an operator")
    new.add_argument("name", help="of the package and of its operator, such as fast_gelu")
    new.add_argument(
        "--into", type=Path, default=Path(), metavar="FOLDER", help="where to put it (here)"
    )
    new.set_defaults(run=_new)
    build = commands.add_parser("build", help="compile sources to one library")
    build.add_argument("sources", nargs="+", type=Path, help=".c, .cpp or .cu files")
    build.add_argument(
        "--out", type=Path, help="the library (the first source's name, ending in .so)"
    )
    build.add_argument(
        "--cflag",
        action="append",
        default=[],
        metavar="FLAG",
        help="for the compiler; may be repeated: --cflag=-g",
    )
    build.add_argument(
        "--ldflag",
        action="append",
        default=[],
        metavar="FLAG",
        help="for the linker; may be repeated",
    )
    build.set_defaults(run=_build)
    commands.add_parser("info", help="what is used here").set_defaults(run=_info)
    return parser


def _new(options: argparse.Namespace) -> None:
    for path in new_package(options.name, options.into):
        print(path)
    print(f'\nNext:  cd {options.into / options.name}  &&  pip install -e ".[test]"  &&  pytest')
    print("Where taeda's wheels lie in a folder, first:  export PIP_FIND_LINKS=FOLDER")


def _build(options: argparse.Namespace) -> None:
    first = options.sources[0]
    out = options.out or first.with_suffix(".so")
    name = out.stem.replace("-", "_")
    flags = {"extra_cflags": options.cflag, "extra_ldflags": options.ldflag}
    print(build_library(name, options.sources, out, **flags, verbose=True))


def _info(options: argparse.Namespace) -> None:
    root = os.environ.get("TAEDA_EXTENSIONS_DIR") or default_root()
    for what, ask in {
        "C compiler": lambda: " ".join(_toolchain.c_compiler()),
        "C++ compiler": lambda: f"{' '.join(_toolchain.cxx_compiler())} {_version()}",
        "CUDA toolkit": lambda: str(_cuda.cuda_home()),
        "ninja": lambda: (
            "installed" if _toolchain.is_ninja_available() else "not installed, and not needed"
        ),
        "headers": lambda: "  ".join(include_paths()),
        "built in": lambda: root,
        "wheels are tagged": wheel_tag,
    }.items():
        try:
            answer = ask()
        except (OSError, NotReady) as error:
            answer = str(error).partition("\n")[0]
        print(f"{what + ':':20}{answer}")


def _version() -> str:
    return _toolchain.get_compiler_abi_compatibility_and_version(_toolchain.get_cxx_compiler())[1]


if __name__ == "__main__":
    sys.exit(main())
