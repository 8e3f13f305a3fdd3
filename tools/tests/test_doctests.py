"""The runner of examples finds them, runs them and says so when one fails."""

from __future__ import annotations

import by_path

doctests = by_path.load("tools/hold/doctests.py")

PAGE = """# Page

```python
value = 2
```

text

```python
assert value == 2
```

```sh
exit 1
```
"""


def test_blocks_are_found_with_their_lines():
    assert list(doctests.blocks(PAGE)) == [(4, "value = 2\n"), (10, "assert value == 2\n")]


def test_a_page_is_one_run(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert doctests.run_page(page) == (2, 0)


def test_a_failure_is_counted_and_shown_with_its_line(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace("value == 2", "value == 3"))
    assert doctests.run_page(page) == (2, 1)
    assert 'page.md", line 10' in capsys.readouterr().err


def test_a_run_without_any_example_fails(tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text("words\n")
    assert doctests.main([str(page)]) == 1
    assert "0 examples passed" in capsys.readouterr().out
