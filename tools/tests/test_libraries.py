"""Check lists of libraries: the page shows what is kept, and the judge sees what is wrong."""

from __future__ import annotations

import json

import pytest
from by_path import load

libraries = load("tools/try/libraries.py")


def test_page_shows_what_is_kept():
    text = libraries.PAGE.read_text()
    assert libraries.page(text) == text, "python tools/try/libraries.py --page"


def test_every_list_was_run_and_what_does_not_pass_has_a_reason():
    kept = json.loads(libraries.RESULTS.read_text())
    assert set(kept) == set(libraries.lists())
    known = libraries.known()
    assert all(why and name.partition(".")[0] in kept for name, why in known.items())
    for name, row in kept.items():
        failing = sum(check.startswith(f"{name}.") for check in known)
        assert row["passed"] == row["of"] - failing, name
        assert libraries.distribution(name) and row["version"]


def test_versions_are_those_that_the_session_installs():
    wanted = {}
    for file in ("libraries.txt", "apart.txt"):
        for line in (libraries.LISTS / file).read_text().splitlines():
            if not line.startswith("#"):
                name, _, version = line.partition("==")
                wanted[name.lower().replace("_", "-")] = version
    assert "torch" not in wanted
    for name, row in json.loads(libraries.RESULTS.read_text()).items():
        called = libraries.distribution(name).lower().replace("_", "-")
        assert wanted[called] == row["version"], name


@pytest.mark.parametrize(
    ("ours", "theirs", "equal"),
    [
        ([[1.0, 2.0]], [[1.001, 2.0]], True),
        ([[1.0, 2.0]], [[1.1, 2.0]], False),
        ([[1.0]], [[1.0], [2.0]], False),
        ([["a"]], [["b"]], False),
        ([[float("nan")]], [[1.0]], False),
        ([[0.0, 5.0]], [[1e-4, 5.0]], True),
    ],
)
def test_numbers_are_compared_by_the_largest_of_them(ours, theirs, equal):
    assert libraries.same(ours, theirs) is equal


def test_a_list_runs_in_a_process_of_its_own_and_is_judged(tmp_path, monkeypatch, capsys):
    lists = tmp_path / "check_lists"
    lists.mkdir()
    (lists / "given.py").write_text((libraries.LISTS / "given.py").read_text())
    (lists / "__init__.py").write_text("")
    (lists / "known.txt").write_text("toy.wrong: it is wrong\n")
    (lists / "toy.py").write_text(
        '"""numpy: a list."""\nimport torch\nfrom .given import normal, filled\n\n'
        "def right():\n    assert 'taeda' in torch.__version__\n    return [normal(2), 3, 'x']\n\n"
        "def wrong():\n    filled(torch.nn.Linear(2, 1))\n    raise OSError('it broke')\n\n"
        "def other():\n    assert 1 == 2\n"
    )
    monkeypatch.setattr(libraries, "LISTS", lists)
    kept, as_known = libraries.judge("toy", None)
    assert (kept["passed"], kept["of"], as_known) == (1, 3, False)
    said = capsys.readouterr().out
    assert "toy.other: AssertionError" in said and "toy.wrong" not in said
