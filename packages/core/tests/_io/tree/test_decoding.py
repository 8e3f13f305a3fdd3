"""Trees that nobody wrote are refused."""

from __future__ import annotations

import pytest

import taeda
from taeda._io import safetypes
from taeda._io.safetensors import FormatError
from taeda._io.tree import decode


def deep():
    value = []
    for _ in range(100_000):
        value = [value]
    return value


BAD = [
    {"eval": ["1"]},
    {"tuple": 3},
    {"dict": [1]},
    {"dict": [[[1], 2]]},
    {"set": [[1]]},
    {"tensor": 0},
    {"tensor": -1},
    {"tensor": True},
    {"bytes": "no base64"},
    {"bytes": 3},
    {"float": "1"},
    {"complex": [1, 2, 3]},
    {"complex": ["a", 1]},
    {"dtype": "load"},
    {"dtype": "__doc__"},
    {"dtype": 3},
    {"device": "nowhere"},
    {"Size": ["a"]},
    {"tuple": [], "list": []},
    {"tuple": [], "_metadata": 1},
    {"tuple": [], "attributes": []},
    {"again": 0},
    [[], {"again": 1}],
    {"dtype": "nn"},
    {"layout": "float32"},
    {"object": ["os.system", ["true"]]},
    {"object": ["builtins.eval", {}]},
    {"defaultdict": ["eval", []]},
    {"deque": [-1, []]},
    {"namespace": [[1, 2]]},
    {"numpy": ["|O", "AAAAAAAAAAA="]},
    {"numpy": ["<f4", "AAA="]},
    {"numpy": [[["a", "|O"]], ""]},
    {"ndarray": [1, None, []]},
    {"Generator": ["cpu", 1]},
    {"storage": 3},
    {"range": [0, 1, 0]},
    {"slice": [[], 1, 2]},
    {"slice": [1]},
    {"datetime": "yesterday"},
    {"timedelta": [1e300, 0, 0]},
    {"numpy.dtype": "|O"},
    {"Path": 3},
    {},
]


@pytest.mark.parametrize("node", BAD, ids=repr)
def test_trees_that_nobody_wrote_are_refused(node):
    with pytest.raises((FormatError, RuntimeError)):
        decode(node, [])


def test_a_deep_tree_is_refused():
    with pytest.raises(FormatError, match="deeply"):
        decode(deep(), [])


def test_names_are_numbered_as_containers_are():
    safetypes.add([len])
    try:
        made = decode([{"name": "builtins.len"}, [], {"again": 0}, {"again": 1}], [])
    finally:
        safetypes.clear()
    assert made == [len, [], len, []]
    assert made[1] is made[3]


@pytest.mark.parametrize("name", ["data", "grad", 3])
def test_attributes_that_no_tensor_has_room_for_are_refused(name):
    tree = {"tensor": 0, "attributes": [[name, 1]]}
    with pytest.raises((FormatError, TypeError)):
        decode(tree, [taeda.ones(1)])


@pytest.mark.parametrize("key", ["torch.nothing", ["object", 1], None])
@pytest.mark.parametrize("kind", ["object", "class"])
def test_classes_that_nobody_allows_are_refused(kind, key):
    tree = {kind: [key, {}] if kind == "object" else key}
    with pytest.raises((FormatError, TypeError)):
        decode(tree, [])
