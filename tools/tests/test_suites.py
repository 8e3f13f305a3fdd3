"""Lists of public tests: the page shows what is kept, and every test that does not pass has its reason."""

from __future__ import annotations

import json
import tarfile

import pytest
from by_path import load

suites = load("tools/try/suites.py")


def test_page_shows_what_is_kept():
    text = suites.PAGE.read_text()
    assert suites.page(text) == text, "python tools/try/suites.py --page"


def test_every_list_belongs_to_a_suite_and_says_its_version():
    lists = {path.stem: path for path in suites.LISTS.glob("*.txt")}
    kept = json.loads(suites.RESULTS.read_text())
    assert set(lists) == set(suites.SUITES) == set(kept)
    for name, path in lists.items():
        assert path.read_text().startswith(f"# {suites.SUITES[name].requirement}: ")
        names, known = suites.listed(name)
        assert names == sorted(names) and len(set(names)) == len(names)
        assert all(why.strip() for why in known.values())
        row = kept[name]
        assert (row["version"], row["of"]) == (suites.SUITES[name].version, len(names))
        assert row["passed"] == len(names) - len(known)


def test_tests_of_an_archive_run_and_are_judged(tmp_path, monkeypatch, capsys):
    sources = tmp_path / "toy-1.0" / "tests"
    sources.mkdir(parents=True)
    (sources / "test_toy.py").write_text(
        "import torch\n\ndef test_right():\n    assert 'taeda' in torch.__version__\n\n"
        "def test_wrong():\n    assert torch.ones(1).item() == 2\n\ndef test_other():\n    raise OSError\n"
    )
    with tarfile.open(tmp_path / "toy-1.0.tar.gz", "w:gz") as archive:
        archive.add(tmp_path / "toy-1.0", "toy-1.0")
    monkeypatch.setitem(suites.SUITES, "toy", suites.Suite("toy==1.0", "tests"))
    monkeypatch.setattr(suites, "LISTS", tmp_path)
    right, wrong = "tests/test_toy.py::test_right", "tests/test_toy.py::test_wrong"
    (tmp_path / "toy.txt").write_text(f"# toy\n{right}\n! {wrong}: it is wrong\n")
    assert suites.judge("toy", tmp_path) == (1, 2, True)
    (tmp_path / "toy.txt").write_text(f"# toy\n! {right}: it is wrong\n{wrong}\n")
    assert suites.judge("toy", tmp_path) == (1, 2, False)
    said = capsys.readouterr().out
    assert "failed: tests/test_toy.py::test_wrong: assert 1.0 == 2" in said
    assert (
        "passes, and stands in the list as one that does not: tests/test_toy.py::test_right" in said
    )


def test_missing_sources_are_named(tmp_path):
    with pytest.raises(SystemExit, match=r"zuko-1\.6\.0"):
        suites.unpacked("zuko", tmp_path, tmp_path / "into")
