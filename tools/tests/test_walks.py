"""Files that the walks of docs/architecture.md name exist."""

from __future__ import annotations

import re
import subprocess

from by_path import ROOT

WALKS = (ROOT / "docs/architecture.md").read_text().partition("walks through the files")[2]
WALKS = WALKS.partition("\n## ")[0]


def test_every_file_of_a_walk_exists():
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    files = [f"/{path}" for path in listed.stdout.splitlines()]
    rows = [line for line in WALKS.splitlines() if line.startswith("| ")]
    named = {name for row in rows for name in re.findall(r"`([\w/.]+\.(?:py|c|h))`", row)}
    assert len(named) > 80
    assert [name for name in sorted(named) if not any(p.endswith(f"/{name}") for p in files)] == []


def test_there_are_six():
    assert WALKS.count("| step | file |") == 6
