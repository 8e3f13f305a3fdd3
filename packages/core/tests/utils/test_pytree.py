"""Trees of containers: apart and together, for every kind of node."""

from collections import OrderedDict, defaultdict, deque, namedtuple

import pytest

import taeda
from taeda.utils import _pytree as tree

Point = namedtuple("Point", "x y")
TREES = [
    1, None, [], (), {}, [1, (2, {"a": 3})], {"b": 1, "a": [2, 3]}, Point(1, [2]), OrderedDict(z=1, a=2),
    defaultdict(list, {"k": [1]}), deque([1, 2], maxlen=5), [None, (None,)], ((), [[]], {"x": ()}),
]  # fmt: skip


@pytest.mark.parametrize("value", TREES, ids=repr)
def test_apart_and_together(value):
    leaves, spec = tree.tree_flatten(value)
    made = tree.tree_unflatten(leaves, spec)
    assert (made, type(made)) == (value, type(value))
    assert (spec.num_leaves, spec) == (len(leaves), tree.tree_structure(value))
    assert tree.tree_leaves(value) == leaves
    assert getattr(made, "maxlen", 5) == 5
    paths = tree.tree_leaves_with_path(value)
    assert [leaf for _, leaf in paths] == leaves
    assert all(tree.key_get(value, path) is leaf for path, leaf in paths)
    with pytest.raises(ValueError, match="holds"):
        spec.unflatten([*leaves, 1])


def test_maps():
    value = {"a": [1, 2.5], "b": (3,)}
    assert tree.tree_map(lambda x, y: x + y, value, {"b": (30,), "a": [10, 20]}) == {
        "a": [11, 22.5],
        "b": (33,),
    }
    assert tree.tree_map_only(int, lambda x: -x, value) == {"a": [-1, 2.5], "b": (-3,)}
    assert tree.tree_map_with_path(lambda p, x: tree.keystr(p), value) == {
        "a": ["['a'][0]", "['a'][1]"],
        "b": ("['b'][0]",),
    }
    assert tree.tree_all_only(float, lambda x: x > 2, value)
    assert not tree.tree_any(lambda x: x > 3, value)
    assert tree.tree_leaves(value, is_leaf=lambda x: isinstance(x, list)) == [[1, 2.5], 3]
    assert tree.keystr(tree.tree_leaves_with_path(Point(1, 2))[1][0]) == ".y"


@pytest.mark.parametrize("other", [[1, 2], {"a": 1}, {"a": 1, "c": 2}, {"a": [1], "b": 2, "c": 3}])
def test_other_trees_are_refused(other):
    with pytest.raises(ValueError, match="mismatch"):
        tree.tree_map(lambda x, y: x, {"a": 1, "b": 2}, other)


def test_classes_can_become_nodes():
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    value = [Pair(1, [2])]
    assert tree.tree_leaves(value) == value
    tree.register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda c, _: Pair(*c))
    try:
        assert tree.tree_leaves(value) == [1, 2]
        assert tree.tree_map(lambda x: x + 1, value)[0].b == [3]
        with pytest.raises(ValueError, match="already registered"):
            tree.register_pytree_node(Pair, lambda p: ([], None), lambda c, _: None)
        with pytest.raises(ValueError, match="flatten_with_keys_fn"):
            tree.tree_leaves_with_path(value)
    finally:
        tree._deregister_pytree_node(Pair)
    with pytest.raises(TypeError, match="wanted a class"):
        tree.register_pytree_node(3, None, None)


def test_named_tuples_have_one_key():
    Pair = namedtuple("Pair", "a b")
    key = tree._get_node_type(Pair(1, 2))
    assert key is namedtuple and tree._get_node_type([1]) is list
    children, context = tree.SUPPORTED_NODES[key].flatten_fn(Pair(1, 2))
    spec = tree.TreeSpec(key, context, [tree.LeafSpec()] * 2)
    assert tree.tree_unflatten(children, spec) == Pair(1, 2)


def test_questions_about_objects():
    Named = namedtuple("Named", "a")
    found = taeda.ones(2).max(0)
    assert tree.is_structseq_instance(found) and not tree.is_structseq_instance(type(found))
    assert tree.is_namedtuple_instance(Named(1)) and not tree.is_namedtuple_instance(Named)
    assert tree.tree_is_leaf(3) and not tree.tree_is_leaf([3])
    assert tree.tree_is_leaf([3], is_leaf=lambda t: isinstance(t, list))


def test_how_a_list_is_taken_apart_serves_a_class_of_lists():
    class Row(list):
        pass

    tree.register_pytree_node(
        Row,
        tree._list_flatten,
        lambda values, context: Row(tree._list_unflatten(values, context)),
        flatten_with_keys_fn=tree._list_flatten_with_keys,
    )
    try:
        made = tree.tree_map(lambda v: v + 1, Row([1, 2]))
        assert type(made) is Row and made == [2, 3]
        assert tree.tree_flatten_with_path(Row([5]))[0][0][0] == (tree.SequenceKey(0),)
    finally:
        tree._deregister_pytree_node(Row)


def test_sizes_are_nodes():
    """As other tuples: who maps tuples by trees would go round for ever at a leaf that is one."""
    size = taeda.Size([1, 2])
    assert tree.tree_leaves({"a": size}) == [1, 2]
    doubled = tree.tree_map(lambda n: 2 * n, size)
    assert doubled == (2, 4) and type(doubled) is taeda.Size
    assert tree.tree_map(str, size) == ("1", "2")
