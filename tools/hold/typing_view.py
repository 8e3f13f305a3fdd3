"""Link every package's modules into one tree, `build/view/taeda`, for pyright.

An editable install spreads `taeda` over several folders. pyright stops at the first regular package that it
finds (core's) and calls the rest unresolved; wheels, which lie in one folder, need none of this.
"""

from __future__ import annotations

import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def build(root: Path = ROOT) -> Path:
    """Make the tree anew and return it. Files are links, folders are real, so that packages can
    share folders.
    """
    view = root / "build" / "view"
    shutil.rmtree(view, ignore_errors=True)
    for source in sorted(root.glob("packages/*/src")):
        for path in source.rglob("*"):
            if path.suffix in (".py", ".pyi") or path.name == "py.typed":
                link = view / path.relative_to(source)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)
    return view


if __name__ == "__main__":
    print(build())
