"""A package of `taeda.ao` under the path that it had before: the modules below it are found there, too."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from types import ModuleType

__all__ = ["modules_below"]


def modules_below(older: str, today: str) -> dict[str, ModuleType]:
    """The modules of the package `today`, by name. Those and all below are modules of `older` as well."""
    package = importlib.import_module(today)
    children: dict[str, ModuleType] = {}
    for found in pkgutil.walk_packages(package.__path__, f"{today}."):
        module = importlib.import_module(found.name)
        place = found.name.removeprefix(f"{today}.")
        sys.modules[f"{older}.{place}"] = module
        if "." not in place:
            children[place] = module
    return children
