"""How large the wheel of an extension is: the template's operator, built by its own hook and by setuptools.

    python tools/ship/extension_wheels.py     prints both; the exit status is 1 where one is above its limit

The template links what it needs of the C++ library into the operator's; setuptools links to the system's.
Both build the source that `python -m taeda.utils.cpp_extension new` writes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from taeda.utils.cpp_extension.__main__ import main as toolkit

#: bytes
LIMITS = {"template": 120_000, "setuptools": 30_000}
SETUP = """
from setuptools import setup
from taeda.utils.cpp_extension import BuildExtension, CppExtension
setup(
    name="fast-op", version="0.1.0", py_modules=[],
    ext_modules=[CppExtension("fast_op", ["csrc/fast_op.cpp"])],
    cmdclass={"build_ext": BuildExtension},
)
"""
BUILDERS = {
    "template": ("-m", "hatchling", "build", "-t", "wheel", "-d", "out"),
    "setuptools": ("setup.py", "-q", "bdist_wheel", "-d", "out"),
}


def wheel(builder: str, parent: Path) -> Path:
    """The wheel that one of BUILDERS makes of the template, in a folder of its own below `parent`."""
    folder = parent / builder
    folder.mkdir()
    if toolkit(["new", "fast_op", "--into", str(folder)]):
        raise SystemExit(1)
    project = folder / "fast_op"
    if builder == "setuptools":  # the same source, without what the other one reads
        (project / "pyproject.toml").unlink()
        (project / "setup.py").write_text(SETUP)
    command = [sys.executable, *BUILDERS[builder]]
    done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{builder}: {done.stdout}{done.stderr}")
    (made,) = (project / "out").glob("*.whl")
    return made


def too_large(sizes: dict[str, int]) -> list[str]:
    """A sentence for each wheel above its limit.

    >>> too_large({"template": 109_000, "setuptools": 31_000})
    ["setuptools: the extension's wheel has 31000 bytes, and 30000 is the limit"]
    """
    return [
        f"{builder}: the extension's wheel has {size} bytes, and {LIMITS[builder]} is the limit"
        for builder, size in sizes.items()
        if size >= LIMITS[builder]
    ]


def main() -> int:
    """Build both, print their sizes, and say which is above its limit."""
    with tempfile.TemporaryDirectory() as folder:
        sizes = {name: wheel(name, Path(folder)).stat().st_size for name in BUILDERS}
    for builder, size in sizes.items():
        limit = LIMITS[builder] / 1000
        print(f"an extension's wheel by {builder:12} {size / 1000:6.1f} kB (below {limit:.0f})")
    wrong = too_large(sizes)
    print(*wrong, sep="\n", end="\n" * bool(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
