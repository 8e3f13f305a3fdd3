from pathlib import Path

import by_path
import pytest

ROOT = Path(__file__).parents[2]
layers = by_path.load("tools/c_layers.py")


def make(tmp_path, files):
    for name, text in files.items():
        path = tmp_path / "packages/core/csrc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return layers.check(tmp_path)


def test_the_core_holds_its_layers():
    assert layers.check(ROOT) == []


def test_a_lower_layer_may_be_included(tmp_path):
    files = {"ops/a.c": '#include "runtime/b.h"\n#include "taeda/abi.h"\n', "runtime/b.h": ""}
    assert make(tmp_path, files) == []


def test_a_higher_layer_may_not(tmp_path):
    (wrong,) = make(tmp_path, {"runtime/a.c": '#include "ops/b.h"\n', "ops/b.h": ""})
    assert wrong.startswith("runtime/a.c includes ops/b.h, which is of a higher layer")


def test_an_include_is_spelt_from_csrc(tmp_path):
    (wrong,) = make(tmp_path, {"ops/a.c": '#include "b.h"\n', "ops/b.h": ""})
    assert wrong == "ops/a.c: 'b.h' is no path from csrc"


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_circle_is_told_once(tmp_path, length):
    names = [f"ops/{k}.h" for k in range(length)]
    files = {n: f'#include "{names[(k + 1) % length]}"\n' for k, n in enumerate(names)}
    assert make(tmp_path, files) == [
        "headers include each other: " + " -> ".join([*names, names[0]])
    ]


def test_another_folder_is_no_layer(tmp_path):
    assert make(tmp_path, {"kernels/a.c": ""}) == ["csrc/kernels is no layer"]
