import json
from pathlib import Path

import by_path
import pytest

mirror = by_path.load("tools/hold/mirror.py")
LONG = "x = 1\n" * 26


def make(tmp_path, files, kept=None):
    for name, text in files.items():
        path = tmp_path / "packages" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (tmp_path / "tools/hold").mkdir(parents=True)
    (tmp_path / "tools/hold/mirror.json").write_text(json.dumps(kept or {}))


@pytest.mark.parametrize(
    ("module", "test"),
    [
        ("optim/src/taeda/optim/adam.py", "optim/tests/test_adam.py"),
        ("optim/src/taeda/optim/_base.py", "optim/tests/test_base.py"),
        ("optim/src/taeda/optim/__init__.py", "optim/tests/test_optim.py"),
        ("data/src/taeda/utils/data/_utils/pin.py", "data/tests/_utils/test_pin.py"),
        ("core/src/taeda/_io/tree/__init__.py", "core/tests/_io/test_tree.py"),
        ("core/src/taeda/_table/view.py", "core/tests/ops/test_view.py"),
        ("core/src/taeda/_composite/view.py", "core/tests/ops/test_view.py"),
        ("core/src/taeda/_composite/_einsum.py", "core/tests/_composite/test_einsum.py"),
        ("core/src/taeda/_errors.py", "core/tests/test_errors.py"),
        ("optim/src/taeda/nn/parallel/_x.py", "optim/tests/nn/parallel/test_x.py"),
        ("a-b/src/taeda/utils/a_b/_x.py", "a-b/tests/test_x.py"),
    ],
)
def test_the_rule(tmp_path, module, test):
    make(
        tmp_path,
        {module: LONG, "optim/src/taeda/optim/z.py": "", "data/src/taeda/utils/data/z.py": ""},
    )
    package = module.split("/")[0]
    found = mirror.place_of(package, tmp_path / "packages" / module, tmp_path)
    assert str(found.relative_to(tmp_path / "packages")) == test


def test_short_modules_and_tables_of_contents_need_no_test(tmp_path):
    files = {
        "nn/src/taeda/nn/short.py": "x = 1\n" * 25,
        "nn/src/taeda/nn/long.py": LONG,
        "nn/src/taeda/nn/__init__.py": LONG,
        "nn/src/taeda/nn/more/__init__.py": LONG + "def f(): ...\n",
    }
    make(tmp_path, files)
    found = [str(path.relative_to(tmp_path)) for path in mirror.modules("nn", tmp_path)]
    assert [Path(path).parts[-2:] for path in found] == [("nn", "long.py"), ("more", "__init__.py")]


def test_a_share_may_not_fall(tmp_path):
    files = {"nn/src/taeda/nn/a.py": LONG, "nn/src/taeda/nn/b.py": LONG, "nn/tests/test_a.py": ""}
    make(tmp_path, files, {"nn": 50})
    assert mirror.check(tmp_path) == []
    (tmp_path / "packages/nn/src/taeda/nn/c.py").write_text(LONG)
    (wrong,) = mirror.check(tmp_path)
    assert wrong.startswith("nn: 1 of 3 modules have a test at the mirrored path, 33 %;")
    assert wrong.endswith("Write the tests that `python tools/hold/mirror.py --missing nn` names.")


def test_a_new_package_mirrors_everything(tmp_path):
    make(tmp_path, {"new/src/taeda/new/a.py": LONG})
    assert mirror.check(tmp_path)[0].startswith("new: 0 of 1 modules")


def test_lines_that_only_a_call_runs(tmp_path):
    path = tmp_path / "a.py"
    path.write_text(
        "x = 1\n\n\ndef f(\n    a,\n):\n    y = a\n    return y\n\n\nclass C:\n    z = 1\n"
    )
    assert mirror._within_functions(path) == {7, 8}
