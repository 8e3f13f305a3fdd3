"""Small workspaces in a folder, for tests of the tools that read packages and their releases."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

__all__ = ["commit", "git", "make", "released", "two"]


def make(
    root: Path, folder: str, name: str, version: str, needs: list[str], code: str = ""
) -> None:
    """A package below `root`, whose `__init__.py` holds `code`."""
    home = root / "packages" / folder
    module = home / "src" / "taeda" / ("" if folder == "core" else folder)
    module.mkdir(parents=True)
    part = home / "src" / "taeda" / f"part-{folder}.txt"
    for path in (home / "README.md", module / "py.typed", part):
        path.write_text("")
    (home / "LICENSE").write_text("words\n")
    (home / "changelog.d").mkdir()
    (module / "__init__.py").write_text(textwrap.dedent(code))
    project = f'[project]\nname = "{name}"\nversion = "{version}"\ndependencies = {needs!r}\n'
    (home / "pyproject.toml").write_text(project.replace("'", '"'))


def two(root: Path) -> Path:
    """Two packages, core and nn, which needs it."""
    (root / "LICENSE").write_text("words\n")
    make(root, "core", "taeda-core", "0.1.0", ["numpy>=1.26"])
    make(root, "nn", "taeda-nn", "0.1.0", ["taeda-core>=0.1,<0.2"])
    return root


def released(root: Path) -> Path:
    """The two packages released as 0.1.0 by their CHANGELOG.md files, without a tag."""
    commit(root)
    for name in ("core", "nn"):
        path = root / "packages" / name / "CHANGELOG.md"
        path.write_text(f"# Changes of {name}\n\n## 0.1.0 (2026-11-30)\n\nAll.\n")
    commit(root)
    return root


def git(root: Path, *words: str) -> str:
    """What a command of git prints in `root`."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = ["git", *identity, *words]
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout


def commit(root: Path) -> None:
    """Commit all that lies in `root`."""
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "-m", "more")
