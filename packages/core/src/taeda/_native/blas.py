"""Where BLAS and LAPACK lie on this machine. Looks at names only: nothing is imported or opened here."""

from __future__ import annotations

import os
from importlib.machinery import PathFinder

__all__ = ["find_library", "place"]

# The package, the folder of its library beside or in it, how the file's name begins.
PLACES = (
    ("scipy_openblas32", "lib", "libscipy_openblas"),
    ("numpy", "../numpy.libs", "libscipy_openblas"),
    ("numpy", ".dylibs", "libscipy_openblas"),
)
ENDINGS = (".so", ".dylib")


def find_library() -> str:
    """The path of the OpenBLAS that a wheel brought along, "" if there is none."""
    return place()[0]


def place() -> tuple[str, bool]:
    """That path, and whether others in the process use the file, so that it has to stay as they know it."""
    for package, folder, stem in PLACES:
        spec = PathFinder.find_spec(package)
        for location in (spec.submodule_search_locations or []) if spec else []:
            place = os.path.join(location, folder)
            for name in sorted(os.listdir(place)) if os.path.isdir(place) else []:
                if name.startswith(stem) and name.endswith(ENDINGS):
                    return os.path.join(place, name), package == "numpy"
    return "", False
