"""What PyInstaller cannot read off the imports of taeda's files: modules that a compiled `__init__` and lazy
names import, libraries that C opens, and data. Modules stay files: rules of kinds are found in their folders.
"""

from pathlib import Path

from PyInstaller.utils.hooks import (
    collect_data_files,
    collect_dynamic_libs,
    collect_submodules,
)

module_collection_mode = {"taeda": "py"}
# PyInstaller takes the library of the same name for the package: the file it runs comes as data
init = (str(Path(__file__).parents[1] / "__init__.py"), "taeda")
datas = [*collect_data_files("taeda"), *collect_data_files("scipy_openblas32"), init]
binaries = collect_dynamic_libs("taeda") + collect_dynamic_libs("scipy_openblas32")
hiddenimports = [
    *collect_submodules("taeda", on_error="ignore"),
    "_cffi_backend",
    "cffi",
    "ml_dtypes",
    "scipy_openblas32",
]
