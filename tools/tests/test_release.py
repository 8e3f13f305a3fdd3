"""What stops a release: files that differ, wheels that lack or hold too much."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from by_path import load

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
