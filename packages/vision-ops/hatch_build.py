"""Compile the kernels: as a hatchling hook for wheels, or in place.

`python packages/vision-ops/hatch_build.py` compiles them in the checkout.

The library is plain C that knows neither Python nor taeda, so one file serves every version of both.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
LIBRARY = HERE / "src" / "taeda" / "vision_ops" / "lib" / "kernels.so"
# no fast-math: NaN and infinity are kept
CFLAGS = (
    "-O2",
    "-std=gnu11",
    "-fPIC",
    "-shared",
    "-fno-math-errno",
    "-ffp-contract=off",
    "-Wall",
    "-Wextra",
)


def compiler() -> list[str]:
    """The C compiler's command. RuntimeError where there is none."""
    if given := os.environ.get("CC"):
        return shlex.split(given)
    for name in ("cc", "gcc", "clang"):
        if shutil.which(name):
            return [name]
    raise RuntimeError(
        "taeda-vision-ops is compiled, and there is no C compiler: apt install gcc, or set CC"
    )


def build() -> Path:
    """Compile the library into the package; return it."""
    LIBRARY.parent.mkdir(exist_ok=True)
    made = LIBRARY.with_name(f"{LIBRARY.name}.{os.getpid()}")
    source = str(HERE / "csrc" / "kernels.c")
    subprocess.run([*compiler(), *CFLAGS, source, "-o", str(made), "-lm", "-s"], check=True)
    made.replace(LIBRARY)
    return LIBRARY


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # only wheels need it
    BuildHookInterface = object


class NativeHook(BuildHookInterface):  # type: ignore[misc]
    """Gives the wheel the library, and the tag of this system; any Python loads it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, in the checkout too: an editable install reads it there."""
        build()
        system = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{system}"


if __name__ == "__main__":
    print(build())
