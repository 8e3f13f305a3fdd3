"""What PyInstaller cannot read off the imports of taeda's files: modules that a compiled `__init__` and lazy
names import, libraries that C opens, and data. Modules stay files: rules of kinds are found in their folders.
"""

from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from PyInstaller.utils.hooks import collect_data_files, collect_dynamic_libs, copy_metadata

from taeda._parts.advice import NEEDS

ROOT = Path(__file__).parents[1]


def modules() -> Iterator[str]:
    """Every module of the parts that are installed: some folders have no `__init__.py` to ask."""
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        if all(part.isidentifier() for part in parts) and parts[-1] != "__main__":
            yield ".".join(parts).removesuffix(".__init__")


def written_down() -> Iterator[tuple[str, str]]:
    """What the installer wrote of each part that is here: `taeda.__version__` reads it."""
    for name in ("taeda-core", *NEEDS):
        try:
            yield from copy_metadata(name)
        except metadata.PackageNotFoundError:
            continue


module_collection_mode = {"taeda": "py"}
# PyInstaller takes the library of the same name for the package: the file it runs comes as data
init = (str(ROOT / "__init__.py"), "taeda")
datas = [
    *collect_data_files("taeda"),
    *collect_data_files("scipy_openblas32"),
    *written_down(),
    init,
]
binaries = [*collect_dynamic_libs("taeda"), *collect_dynamic_libs("scipy_openblas32")]
hiddenimports = [*modules(), "_cffi_backend", "cffi", "ml_dtypes", "scipy_openblas32"]
