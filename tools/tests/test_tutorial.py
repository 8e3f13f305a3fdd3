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


def test_distributions_are_tied_to_files(tmp_path):
    (tmp_path / "taeda_core-0.1.0-cp311-abi3-linux_x86_64.whl").touch()
    (tmp_path / "taeda-0.1.0-py3-none-any.whl").touch()
    folder = tmp_path.resolve().as_uri()
    assert tutorial.constraints(tmp_path).splitlines() == [
        f"taeda @ {folder}/taeda-0.1.0-py3-none-any.whl",
        f"taeda-core @ {folder}/taeda_core-0.1.0-cp311-abi3-linux_x86_64.whl",
    ]
