"""Fragments become a section above the older ones, and are gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from by_path import load

changelog = load("tools/ship/changelog.py")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "nn" / "changelog.d").mkdir(parents=True)
    write(tmp_path / "nn", "b.fixed", "A fault is\nmended.\n")
    write(tmp_path / "nn", "a.added", "A layer.\n")
    return tmp_path / "nn"


def write(package: Path, name: str, text: str) -> None:
    (package / "changelog.d" / f"{name}.md").write_text(text)


def test_sections_stand_one_above_the_other(package):
    changelog.gather(package, "0.2.0", "2026-11-30")
    assert not [*(package / "changelog.d").iterdir()]
    write(package, "c.removed", "A name.")
    changelog.gather(package, "0.3.0", "2026-12-30")
    assert (package / "CHANGELOG.md").read_text() == (
        "# Changes of nn\n\n## 0.3.0 (2026-12-30)\n\n### Removed\n\n- A name.\n\n"
        "## 0.2.0 (2026-11-30)\n\n### Added\n\n- A layer.\n\n### Fixed\n\n- A fault is\n  mended.\n"
    )


def test_a_release_is_gathered_once(package):
    changelog.gather(package, "0.2.0", "2026-11-30")
    with pytest.raises(ValueError, match=r"has a section 0.2.0 already"):
        changelog.gather(package, "0.2.0", "2026-12-01")


def test_the_newest_section_can_be_read_alone(package):
    changelog.gather(package, "0.2.0", "2026-11-30")
    newest = changelog.gather(package, "0.3.0", "2026-12-30")
    assert changelog.latest(package) == newest


@pytest.mark.parametrize(("name", "text"), [("x.improved", "Words."), ("x.fixed", " \n")])
def test_a_file_that_is_no_fragment_stops_it_before_anything_is_written(package, name, text):
    write(package, name, text)
    with pytest.raises(ValueError, match=name):
        changelog.gather(package, "0.2.0", "2026-11-30")
    assert not (package / "CHANGELOG.md").exists()


def test_every_fragment_of_this_checkout_is_one():
    for folder in sorted(Path(changelog.ROOT / "packages").iterdir()):
        assert isinstance(changelog.fragments(folder), dict)
