"""Trees that nobody wrote are refused."""

from __future__ import annotations

import pytest

import taeda
from taeda._io import safetypes
from taeda._io.safetensors import FormatError
from taeda._io.tree import decode, decoding


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


def sparse_tree(indices=0, grad=False, parameter=False):
    return {
        "sparse": ["sparse_coo", [{"tensor": indices}, {"tensor": 1}], [3], True, grad, parameter]
    }


@pytest.mark.parametrize("grad", [False, True])
@pytest.mark.parametrize("parameter", [False, True])
def test_sparse_tensors_have_what_was_said_of_them(grad, parameter):
    pytest.importorskip("taeda.sparse", reason="taeda-sparse is not installed")
    pytest.importorskip("taeda.nn", reason="taeda-nn is not installed")
    made = decode(
        sparse_tree(grad=grad, parameter=parameter), [taeda.tensor([[0, 2]]), taeda.ones(2)]
    )
    assert made.to_dense().tolist() == [1, 0, 1] and made.requires_grad is grad
    assert isinstance(made, taeda.nn.Parameter) is parameter


def test_sparse_tensors_that_cannot_be_are_refused():
    pytest.importorskip("taeda.sparse", reason="taeda-sparse is not installed")
    with pytest.raises(FormatError, match="cannot be"):
        decode(sparse_tree(), [taeda.tensor([[0, 3]]), taeda.ones(2)])
    with pytest.raises(FormatError, match="container where a value"):
        decode(
            {"sparse": ["sparse_coo", [[], {"tensor": 0}], [3], True, False, False]},
            [taeda.ones(2)],
        )


def test_memory_that_is_out_is_not_the_file_s_fault(monkeypatch):
    def out_of_memory(*_):
        raise taeda.OutOfMemoryError("no more")

    monkeypatch.setattr(decoding, "from_facts", out_of_memory)
    with pytest.raises(taeda.OutOfMemoryError):
        decode(sparse_tree(), [taeda.tensor([[0, 2]]), taeda.ones(2)])


def test_attributes_stand_at_tensors_alone():
    with pytest.raises(FormatError, match="attributes stand at a bytes"):
        decode({"bytes": "", "attributes": [["a", 1]]}, [])


def test_attributes_come_back_and_a_storage_s_content_is_its_tensor():
    made = decode({"tensor": 0, "attributes": [["note", "x"], ["more", [1]]]}, [taeda.ones(1)])
    assert (made.note, made.more) == ("x", [1])
    content = taeda.arange(3)
    storage = decode({"storage": {"tensor": 0}}, [content])
    assert storage.nbytes() == content.untyped_storage().nbytes()
    with pytest.raises(FormatError, match="a storage wants a tensor"):
        decode({"storage": 3}, [])


def test_objects_of_an_allowed_class_and_names_that_are_none():
    safetypes.add([Plain])
    try:
        made = decode({"object": [f"{__name__}.Plain", {"dict": [["x", 1]]}]}, [])
        with pytest.raises(FormatError):
            decode({"name": 3}, [])
        with pytest.raises(FormatError):
            decode({"object": [3, {"dict": []}]}, [])
    finally:
        safetypes.clear()
    assert type(made) is Plain and made.x == 1
    assert decoding.dtype_named("float32") is taeda.float32


class Plain:
    """What a program saves of its own."""
