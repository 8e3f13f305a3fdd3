"""Versions that do not go together are told, and those that do are not."""

from __future__ import annotations

import sys

from taeda._doctor import facts, mixes


def _install(folder, name, version, *requires):
    """What pip writes down of a distribution."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    lines = [f"Requires-Dist: {one}\n" for one in requires]
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{''.join(lines)}"
    )


def test_what_is_installed_here_goes_together():
    assert mixes.mixed() == []


def test_a_sibling_of_another_version_is_told(tmp_path, monkeypatch):
    both = ("taeda-core>=0.1,<0.2", "taeda-autograd<0.2,>=0.1", "numpy>=1.26")
    _install(tmp_path, "taeda-core", "0.2.0", "numpy>=1.26", 'cupy-cuda13x>=14; extra == "cuda13"')
    _install(tmp_path, "taeda-autograd", "0.1.3", "taeda-core<0.3,>=0.2")
    _install(tmp_path, "taeda-nn", "0.1.0", *both)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert mixes.mixed() == ["taeda-nn 0.1.0 wants taeda-core>=0.1,<0.2, and 0.2.0 is installed"]


def test_the_facts_have_a_section_of_it_where_there_is_something_to_say(monkeypatch):
    assert "versions that do not go together" not in dict(facts.sections())
    monkeypatch.setattr(facts, "mixed", lambda: ["taeda-nn 0.1.0 wants another"])
    rows = dict(facts.sections())["versions that do not go together"]
    assert "taeda-nn 0.1.0 wants another\n" in facts.as_text([("", rows)])


def test_a_sibling_that_is_gone_is_told(tmp_path, monkeypatch):
    _install(tmp_path, "taeda-optim", "0.1.0", "taeda-core>=0.1,<0.2")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    (told,) = mixes.mixed()
    assert told == "taeda-optim 0.1.0 wants taeda-core>=0.1,<0.2, which is not installed"


def test_extras_and_others_are_left_to_pip(tmp_path, monkeypatch):
    _install(tmp_path, "taeda", "0.1.0", 'taeda-nn>=9; extra == "all"', "taedalike>=3", "numpy>=99")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert mixes.mixed() == []
