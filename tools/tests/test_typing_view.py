"""The merged tree holds every package's modules, as links."""

from __future__ import annotations

import by_path

typing_view = by_path.load("tools/hold/typing_view.py")


def test_two_packages_share_a_folder(tmp_path):
    for name in ("core", "data"):
        folder = tmp_path / "packages" / name / "src/taeda/utils"
        folder.mkdir(parents=True)
        (folder / f"{name}.py").write_text(f"NAME = {name!r}\n")
    (tmp_path / "packages/core/src/taeda/py.typed").touch()
    (tmp_path / "packages/core/src/taeda/core.so").touch()
    view = typing_view.build(tmp_path)
    found = sorted(str(path.relative_to(view)) for path in view.rglob("*") if path.is_file())
    assert found == ["taeda/py.typed", "taeda/utils/core.py", "taeda/utils/data.py"]
    assert (view / "taeda/utils/data.py").resolve().parts[-4] == "src"


def test_what_was_removed_leaves_the_view(tmp_path):
    module = tmp_path / "packages/core/src/taeda/old.py"
    module.parent.mkdir(parents=True)
    module.touch()
    typing_view.build(tmp_path)
    module.unlink()
    assert not list(typing_view.build(tmp_path).rglob("old.py"))
