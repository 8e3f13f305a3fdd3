"""What stops a release: files that differ, wheels that lack or hold too much."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from by_path import load
from workspaces import commit, git, make, released, two

release = load("tools/ship/release.py")
SOUND = {
    "taeda/nn/__init__.py": "",
    "taeda/nn/py.typed": "",
    "taeda_nn-0.1.0.dist-info/licenses/LICENSE": "words",
}


def wheel(folder: Path, content: dict[str, str], name: str = "taeda_nn") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member, text in content.items():
            archive.writestr(zipfile.ZipInfo(member), text)
    return path


def test_a_sound_wheel_has_nothing_wrong(tmp_path):
    wheel(tmp_path, SOUND)
    assert [*release.contents(tmp_path)] == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"taeda_nn-0.1.0.dist-info/licenses/LICENSE": None}, "holds no licence"),
        ({"tests/test_nn.py": ""}, "outside of taeda"),
        ({"taeda/nn/tests/test_nn.py": ""}, "not for users"),
        ({"taeda/nn/__pycache__/a.pyc": ""}, "not for users"),
        ({"taeda/nn/_native.so": ""}, "holds the libraries"),
        ({"taeda/nn/py.typed": None}, "no py.typed"),
    ],
)
def test_what_is_missing_or_too_much_is_named(tmp_path, change, words):
    content = {name: text for name, text in {**SOUND, **change}.items() if text is not None}
    wheel(tmp_path, content)
    (sentence,) = release.contents(tmp_path)
    assert words in sentence


def test_packages_without_a_release_keep_their_first_version(tmp_path):
    tree = two(tmp_path)
    commit(tree)
    assert release.bumped(tree, "2026-11-30") == ["taeda-core 0.1.0", "taeda-nn 0.1.0"]
    assert git(tree, "tag").split() == ["core-v0.1.0", "nn-v0.1.0"]
    assert release.packages.changed(release.packages.load(tree), tree) == []


def test_nothing_is_raised_at_a_release(tmp_path):
    tree = released(two(tmp_path))
    assert release.bumped(tree, "2026-11-30") == []
    assert git(tree, "tag").split() == ["core-v0.1.0", "nn-v0.1.0"]
    assert release.notes(tree).startswith("# taeda-core\n\n## 0.1.0 (2026-11-30)\n\nAll.\n")


def test_a_package_whose_ranges_move_gets_a_version_too(tmp_path):
    tree = released(two(tmp_path))
    (tree / "packages/core/README.md").write_text("more")
    make(tree, "optim", "taeda-optim", "0.1.0", ["taeda-nn>=0.1,<0.2"])
    commit(tree)
    raised = release.bumped(tree, "2026-12-30")
    assert raised == ["taeda-core 0.2.0", "taeda-nn 0.1.1", "taeda-optim 0.1.0"]
    assert "core>=0.2,<0.3" in (tree / "packages/nn/pyproject.toml").read_text()


def test_files_built_twice_are_compared_by_their_bytes(tmp_path):
    for folder in ("first", "second"):
        wheel(tmp_path / folder, SOUND)
    assert release.compare(tmp_path / "first", tmp_path / "second") == 1
    wheel(tmp_path / "second", {**SOUND, "taeda/nn/__init__.py": "x"})
    with pytest.raises(release.Wrong, match=r"these differ: taeda_nn-0\.1\.0-py3"):
        release.compare(tmp_path / "first", tmp_path / "second")


def test_a_command_that_fails_says_its_words():
    with pytest.raises(release.Wrong, match="failed:\nbecause"):
        release.run("sh", "-c", "echo because; exit 3")


def test_pythons_of_pyenv_are_found_and_one_that_does_not_run_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "shims"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    for folder, text in (("shims", "exit 1"), ("versions/3.12.9/bin", "exit 0")):
        path = tmp_path / folder / "python3.12"
        path.parent.mkdir(parents=True)
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
    assert release.interpreters() == {"3.12": str(tmp_path / "versions/3.12.9/bin/python3.12")}
