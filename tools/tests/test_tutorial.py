"""The runner of a page's commands."""

from __future__ import annotations

import pytest
from by_path import load

tutorial = load("tools/ship/tutorial.py")
PAGE = """
Text.
```sh
x=1
```
```python
raise SystemExit
```
```sh
test "$x" = {wanted} && pwd > ../seen
```
"""


@pytest.mark.parametrize(("wanted", "status"), [(1, 0), (2, 1)])
def test_blocks_are_one_shell(tmp_path, wanted, status):
    (tmp_path / "page.md").write_text(PAGE.format(wanted=wanted))
    assert tutorial.main([str(tmp_path / "page.md"), "--wheels", str(tmp_path)]) == status


def test_commands_have_what_a_reader_has(tmp_path, monkeypatch):
    """A variable that the page does not set would hide a line that the page lacks."""
    for name in (
        "PIP_CONSTRAINT",
        "PIP_BUILD_CONSTRAINT",
        "PIP_FIND_LINKS",
        "PYTHONPATH",
        "UV_X",
        "TAEDA_X",
    ):
        monkeypatch.setenv(name, "mine")
    monkeypatch.setenv("PIP_INDEX_URL", "here")
    page = "```sh\nenv > ../seen\ncp ../seen $WHEELS\n```\n"
    (tmp_path / "page.md").write_text(page)
    assert tutorial.main([str(tmp_path / "page.md"), "--wheels", str(tmp_path)]) == 0
    seen = dict(
        line.split("=", 1) for line in (tmp_path / "seen").read_text().splitlines() if "=" in line
    )
    assert "mine" not in seen.values()
    assert seen["PIP_INDEX_URL"] == "here"
    assert {name for name in seen if name.startswith("PIP_")} <= {
        *tutorial.INDEX, "PIP_CONFIG_FILE", "PIP_DISABLE_PIP_VERSION_CHECK", "PIP_QUIET"}  # fmt: skip
