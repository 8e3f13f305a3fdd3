"""Import a file of `tools/` or a build script, which are no packages, under a name that cannot clash."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def load(path: str) -> ModuleType:
    """The module at `path`, relative to the checkout. Its neighbours can be imported by it."""
    file = ROOT / path
    name = "by_path_" + path.removesuffix(".py").replace("/", "_").replace("-", "_")
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        hidden = _folders(file.parent)
        sys.path.insert(0, str(file.parent))
        try:
            sys.modules[name] = module  # dataclasses look their module up while it is being made
            spec.loader.exec_module(module)
        finally:
            sys.path.remove(str(file.parent))
            sys.modules.update(hidden)
    return sys.modules[name]


def _folders(neighbours: Path) -> dict[str, ModuleType]:
    """Folders that pytest has imported under the name of a neighbour (`packages`), taken away until
    the file is imported.
    """
    names = {path.stem for path in neighbours.glob("*.py")} & set(sys.modules)
    folders = [name for name in names if getattr(sys.modules[name], "__file__", None) is None]
    return {name: sys.modules.pop(name) for name in folders}
