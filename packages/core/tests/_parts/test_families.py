"""Families: each module of a folder is imported once, those with an underscore are not."""

from __future__ import annotations

import sys

from taeda._parts.families import import_families


def test_every_module_but_private_ones(tmp_path, monkeypatch):
    folder = tmp_path / "families_of_a_test"
    folder.mkdir()
    for name in ("__init__", "one", "two", "_shared"):
        (folder / f"{name}.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    import_families("families_of_a_test")
    found = {name for name in sys.modules if name.startswith("families_of_a_test.")}
    for name in (*found, "families_of_a_test"):
        monkeypatch.delitem(sys.modules, name)
    assert found == {"families_of_a_test.one", "families_of_a_test.two"}
