"""The README's lines are found as they stand, and a line that fails is a failure."""

from __future__ import annotations

import re
import subprocess

import pytest
from by_path import load

install_lines = load("tools/ship/install_lines.py")
README = (install_lines.ROOT / "README.md").read_text()


def test_the_first_line_of_the_readme_installs_every_package():
    (_, first), *_ = install_lines.section(README, "Use it")
    assert install_lines.commands(first)[0] == "pip install ./packages/*"
    folders = {path for path in install_lines.ROOT.glob("packages/*") if path.name != "__pycache__"}
    assert {path.parent for path in install_lines.ROOT.glob("packages/*/pyproject.toml")} == folders


def test_no_line_of_the_readme_fetches_a_name_of_ours():
    for title in ("Use it", "Two commands for those who work on it"):
        for language, code in install_lines.section(README, title):
            for command in install_lines.commands(code) if language == "sh" else []:
                assert not re.search(r"install.*\staeda", command), command


def test_a_heading_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="no heading 'Buy it'"):
        install_lines.section(README, "Buy it")


def test_a_command_that_fails_ends_the_run(tmp_path):
    install_lines.follow("true", "uv", tmp_path, ['test "$REPOSITORY" = ' + tmp_path.as_uri()])
    with pytest.raises(subprocess.CalledProcessError):
        install_lines.follow("true", "uv", tmp_path, ["false", "true"])
