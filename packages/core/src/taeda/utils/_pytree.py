"""Nested containers ("trees") taken apart into leaves and put together again.

Lists, tuples, named tuples, dicts, OrderedDicts, defaultdicts and deques are nodes, and whatever
`register_pytree_node` adds; anything else is a leaf, None as well.

>>> leaves, spec = tree_flatten({"a": [1, 2], "b": (3,)})
>>> leaves, tree_unflatten([x * 10 for x in leaves], spec)
([1, 2, 3], {'a': [10, 20], 'b': (30,)})
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, NamedTuple

from taeda._native import core as _core

Size: Any = _core.Size

__all__ = [
    "DictKey", "GetAttrKey", "LeafSpec", "MappingKey", "PyTree", "SequenceKey", "TreeSpec",
    "key_get", "keystr",
    "register_dataclass", "register_pytree_node", "tree_all", "tree_all_only", "tree_any", "tree_any_only",
    "tree_flatten", "tree_flatten_with_path",
    "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_map", "tree_map_", "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path", "tree_structure", "tree_unflatten",
]  # fmt: skip

PyTree = Any
Context = Any
IsLeaf = Callable[[Any], bool] | None


# ---- the way to a leaf ----


@dataclass(frozen=True)
class SequenceKey:
    """The place in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        return sequence[self.idx]


@dataclass(frozen=True)
class MappingKey:
    """The key in a mapping."""

    key: Hashable

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        return mapping[self.key]


DictKey = MappingKey


@dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        return getattr(obj, self.name)


KeyPath = tuple[Any, ...]


def keystr(kp: KeyPath) -> str:
    """A path as it would be written after the tree's name."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What lies at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


# ---- kinds of nodes ----


class NodeDef(NamedTuple):
    """How a kind of container is taken apart and made."""

    type: type
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Context]]
    unflatten_fn: Callable[[Iterable[Any], Context], Any]
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Context]] | None


def _sequence(kind: Callable[[Iterable[Any]], Any]) -> tuple[Any, Any, Any]:
    return (
        lambda s: (list(s), None),
        lambda values, _: kind(values),
        lambda s: ([(SequenceKey(i), v) for i, v in enumerate(s)], None),
    )


# under the names that programs know: how a list and a dict are taken apart
_LIST = _sequence(list)
_list_flatten, _list_unflatten, _list_flatten_with_keys = _LIST


def _dict_flatten(d: Any) -> tuple[list[Any], list[Any]]:
    """The values, and the keys."""
    return list(d.values()), list(d)


def _dict_unflatten(values: Iterable[Any], context: Any) -> dict[Any, Any]:
    """The dict of the keys and values."""
    return dict(zip(context, values, strict=True))


def _dict_flatten_with_keys(d: Any) -> tuple[list[tuple[Any, Any]], list[Any]]:
    """Pairs of the place and the value, and the keys."""
    return _keyed(d, list(d))


def _keyed(d: Any, context: Any) -> tuple[list[tuple[Any, Any]], Any]:
    return [(MappingKey(k), v) for k, v in d.items()], context


_DEFAULT = (
    lambda d: (list(d.values()), [d.default_factory, list(d)]),
    lambda values, c: defaultdict(c[0], zip(c[1], values, strict=True)),
    lambda d: _keyed(d, [d.default_factory, list(d)]),
)
_DICT = (_dict_flatten, _dict_unflatten, _dict_flatten_with_keys)
_ORDERED = (_DICT[0], lambda values, keys: OrderedDict(zip(keys, values, strict=True)), _DICT[2])
_DEQUE = (
    lambda d: (list(d), d.maxlen),
    lambda values, length: deque(values, maxlen=length),
    lambda d: ([(SequenceKey(i), v) for i, v in enumerate(d)], d.maxlen),
)
_NAMED = NodeDef(
    tuple,
    lambda t: (list(t), type(t)),
    lambda values, kind: kind(*values) if is_namedtuple(kind) else kind(list(values)),
    lambda t: ([(GetAttrKey(f), getattr(t, f)) for f in _field_names(t)], type(t)),
)
SUPPORTED_NODES: dict[Any, NodeDef] = {
    kind: NodeDef(kind, *how)
    for kind, how in (
        (list, _LIST), (tuple, _sequence(tuple)), (dict, _DICT), (OrderedDict, _ORDERED),
        (defaultdict, _DEFAULT),
        (deque, _DEQUE),
    )
}  # fmt: skip
SUPPORTED_NODES[namedtuple] = _NAMED  # whatever its class


def _size_unflatten(values: Iterable[Any], _: Context) -> Any:
    """A size of integers; a tuple of anything else."""
    made = tuple(values)
    return Size(made) if all(type(v) is int for v in made) else made


SUPPORTED_NODES[Size] = NodeDef(Size, _LIST[0], _size_unflatten, _LIST[2])
_serialized_names: dict[Any, str] = {}


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Iterable[Any], Context]],
    unflatten_fn: Callable[[Iterable[Any], Context], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Callable[[Any], tuple[list[tuple[Any, Any]], Context]] | None = None,
) -> None:
    """Make a class a node: `flatten_fn(x)` gives (children, context),
    `unflatten_fn(children, context)` makes one anew.

    ValueError for a class that is registered, TypeError for what is no class. `serialized_type_name`
    is the name of the class in files; the ways to write a context are kept and read by nobody.
    """
    if not isinstance(cls, type):
        raise TypeError(f"register_pytree_node: wanted a class, got {cls!r}")
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or registered."
        )
    if serialized_type_name is not None:
        _serialized_names[cls] = serialized_type_name
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn)


_register_pytree_node = register_pytree_node


def register_dataclass(
    cls: type,
    *,
    field_names: list[str] | None = None,
    drop_field_names: list[str] | None = None,
    serialized_type_name: str | None = None,
) -> None:
    """Make a dataclass a node: its fields that are not None are children, in order.

    `field_names` are the fields, for a class that is no dataclass and takes them by name; for a
    dataclass they are all that its `__init__` takes but for `drop_field_names`, which get their
    defaults. `serialized_type_name` is its name in files.

    ValueError for names that are not the fields, and as in `register_pytree_node`.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Point:
    ...     x: int
    ...     y: int
    >>> register_dataclass(Point)
    >>> tree_map(lambda n: n + 1, Point(1, 2))
    Point(x=2, y=3)
    """
    names = _fields_of(cls, field_names, set(drop_field_names or ()))

    def flatten(obj: Any) -> tuple[list[Any], Context]:
        pairs = [(name, getattr(obj, name)) for name in names]
        there = [name for name, value in pairs if value is not None]
        gone = [name for name, value in pairs if value is None]
        return [value for _, value in pairs if value is not None], [there, gone]

    def unflatten(values: Iterable[Any], context: Context) -> Any:
        there, gone = context
        return cls(**dict(zip(there, values, strict=True)), **dict.fromkeys(gone))

    def flatten_with_keys(obj: Any) -> tuple[list[tuple[Any, Any]], Context]:
        values, context = flatten(obj)
        return [(GetAttrKey(n), v) for n, v in zip(context[0], values, strict=True)], context

    register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=flatten_with_keys,
    )


def _fields_of(cls: type, given: list[str] | None, dropped: set[str]) -> list[str]:
    if not is_dataclass(cls):
        if given is None:
            raise ValueError(f"register_dataclass: {cls} is no dataclass, so it needs field_names")
        return list(given)
    own = [f.name for f in fields(cls) if f.init and f.name not in dropped]
    if given is not None and set(given) != set(own):
        raise ValueError(
            f"register_dataclass: the fields of {cls.__name__} are {own}, and field_names is "
            f"{list(given)}: name all of them, or put the others into drop_field_names"
        )
    return own if given is None else list(given)


def serialized_name(cls: type) -> str | None:
    """The name that a class was registered with for files; None for one without."""
    return _serialized_names.get(cls)


def class_serialized_as(name: str) -> type | None:
    """The class that was registered last with this name for files; None if there is none."""
    found = [cls for cls, known in _serialized_names.items() if known == name]
    return found[-1] if found else None


def _deregister_pytree_node(cls: type) -> None:
    """Make a class a leaf again."""
    del SUPPORTED_NODES[cls]
    _serialized_names.pop(cls, None)


def is_namedtuple(obj: Any) -> bool:
    """Whether an object, or a class, is a named tuple."""
    cls = obj if isinstance(obj, type) else type(obj)
    fields = getattr(cls, "_fields", None)
    return issubclass(cls, tuple) and isinstance(fields, tuple)


def is_structseq(obj: Any) -> bool:
    """Whether an object, or a class, is what operators with named results return,
    `taeda.return_types.max` for one.
    """
    cls = obj if isinstance(obj, type) else type(obj)
    return issubclass(cls, tuple) and isinstance(getattr(cls, "n_sequence_fields", None), int)


def is_structseq_instance(obj: Any) -> bool:
    """Whether an object, and no class, is what operators with named results return."""
    return not isinstance(obj, type) and is_structseq(obj)


def is_namedtuple_instance(obj: Any) -> bool:
    """Whether an object, and no class, is a named tuple."""
    return not isinstance(obj, type) and is_namedtuple(obj)


def _field_names(named: Any) -> tuple[str, ...]:
    return named._fields if is_namedtuple(named) else type(named).__match_args__


def _get_node_type(tree: Any) -> Any:
    """The key of SUPPORTED_NODES: the class, `collections.namedtuple` for named tuples that are not
    registered.
    """
    kind = type(tree)
    return namedtuple if kind not in SUPPORTED_NODES and is_namedtuple(tree) else kind


def _definition(tree: Any) -> NodeDef | None:
    found = SUPPORTED_NODES.get(type(tree))
    return _NAMED if found is None and (is_namedtuple(tree) or is_structseq(tree)) else found


def tree_is_leaf(tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether it is a leaf: what is no node, or what `is_leaf` calls one."""
    return (is_leaf is not None and is_leaf(tree)) or _definition(tree) is None


_is_leaf = tree_is_leaf  # the name that older programs know


# ---- the shape of a tree ----


@dataclass(frozen=True, eq=True)
class TreeSpec:
    """A tree without its leaves."""

    type: Any
    context: Any
    children_specs: list[TreeSpec]

    @cached_property
    def num_leaves(self) -> int:
        """How many leaves it has."""
        return 1 if self.type is None else sum(child.num_leaves for child in self.children_specs)

    @cached_property
    def num_nodes(self) -> int:
        """How many nodes and leaves it has."""
        return 1 + sum(child.num_nodes for child in self.children_specs)

    @property
    def num_children(self) -> int:
        """How many children the root has."""
        return len(self.children_specs)

    def is_leaf(self) -> bool:
        """Whether it is a single leaf."""
        return self.type is None

    def children(self) -> list[TreeSpec]:
        """The specs below the root."""
        return list(self.children_specs)

    def child(self, index: int) -> TreeSpec:
        """One of them."""
        return self.children_specs[index]

    def __repr__(self) -> str:
        if self.type is None:
            return "*"
        return f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"

    def __hash__(self) -> int:
        return hash((self.type, repr(self.context), tuple(self.children_specs)))

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """The tree with these leaves. ValueError for another number of them."""
        given = list(leaves)
        if len(given) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(given)} but the spec refers "
                "to a pytree that holds "
                f"{self.num_leaves} items ({self})."
            )
        return self._build(iter(given))

    def _build(self, leaves: Any) -> Any:
        if self.type is None:
            return next(leaves)
        children = [child._build(leaves) for child in self.children_specs]
        node = SUPPORTED_NODES.get(self.type, _NAMED)
        return node.unflatten_fn(children, self.context)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """The parts of a tree that stand where this one's leaves do.
        ValueError where it differs above them.
        """
        if self.type is None:
            return [tree]
        node = _definition(tree)
        if node is None or type(tree) is not self.type:
            raise ValueError(f"Node type mismatch; wanted {self.type}, got {type(tree)}.")
        children, context = node.flatten_fn(tree)
        children = list(children)
        if isinstance(context, list) and isinstance(tree, (dict, OrderedDict, defaultdict)):
            children = _in_order(self.context, tree)
            context = self.context
        if len(children) != self.num_children or context != self.context:
            raise ValueError(f"Node mismatch; wanted {self}, got {tree!r}.")
        return [
            leaf
            for spec, part in zip(self.children_specs, children, strict=True)
            for leaf in spec.flatten_up_to(part)
        ]


def _in_order(context: Any, tree: Mapping[Any, Any]) -> list[Any]:
    keys = context[1] if isinstance(tree, defaultdict) else context
    if set(keys) != set(tree):
        raise ValueError(f"Node keys mismatch; wanted {list(keys)}, got {list(tree)}.")
    return [tree[key] for key in keys]


class LeafSpec(TreeSpec):
    """The spec of one leaf."""

    def __init__(self) -> None:
        super().__init__(None, None, [])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TreeSpec) and other.type is None

    def __hash__(self) -> int:
        return hash(None)


_LEAF_SPEC = LeafSpec()


# ---- apart and together ----


def _flatten(tree: Any, leaves: list[Any], is_leaf: IsLeaf) -> TreeSpec:
    node = None if is_leaf is not None and is_leaf(tree) else _definition(tree)
    if node is None:
        leaves.append(tree)
        return _LEAF_SPEC
    children, context = node.flatten_fn(tree)
    return TreeSpec(type(tree), context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_flatten(tree: PyTree, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeSpec]:
    """The leaves in order, and the spec. `is_leaf(x)` may make a node a leaf."""
    leaves: list[Any] = []
    spec = _flatten(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves: Iterable[Any], treespec: TreeSpec) -> PyTree:
    """The tree of a spec with these leaves. TypeError for what is no spec."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "tree_unflatten(leaves, treespec): Expected `treespec` to be instance of TreeSpec but "
            f"got item of type {type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree: PyTree, is_leaf: IsLeaf = None) -> Iterable[Any]:
    """The leaves, one after the other."""
    return iter(tree_leaves(tree, is_leaf))


def tree_leaves(tree: PyTree, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: IsLeaf = None) -> TreeSpec:
    """The spec."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """The tree with `func` of every leaf; `rests` are trees with the same nodes above, whose parts
    come as further arguments.

    >>> tree_map(lambda x, y: x + y, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    return spec.unflatten([func(*each) for each in zip(*columns, strict=True)])


def tree_map_(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Call `func` of every leaf, and return the tree as it is."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def _chooses(kind: Any) -> Callable[[Any], bool]:
    if isinstance(kind, (type, tuple)) or not callable(kind):
        return lambda x: isinstance(x, kind)
    return kind


def tree_map_only(
    type_or_types_or_pred: Any,
    func: Callable[[Any], Any] | None = None,
    tree: PyTree = None,
    is_leaf: IsLeaf = None,
) -> PyTree:
    """`tree_map` over the leaves of a type, or for which a function says True; others stay."""
    chosen = _chooses(type_or_types_or_pred)
    assert func is not None, "tree_map_only: wanted a function"
    return tree_map(lambda x: func(x) if chosen(x) else x, tree, is_leaf=is_leaf)


def tree_map_only_(
    type_or_types_or_pred: Any, func: Callable[[Any], Any], tree: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """Call `func` of those leaves, and return the tree as it is."""
    tree_map_only(type_or_types_or_pred, func, tree, is_leaf)
    return tree


def tree_all(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether `pred` holds for all leaves."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None) -> bool:
    """Whether `pred` holds for some leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_all_only(
    type_or_types: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """`tree_all` over the leaves of a type."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


def tree_any_only(
    type_or_types: Any, pred: Callable[[Any], bool], tree: PyTree, is_leaf: IsLeaf = None
) -> bool:
    """`tree_any` over the leaves of a type."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, type_or_types))


# ---- with paths ----


def _paths(tree: Any, before: KeyPath, is_leaf: IsLeaf) -> Iterable[tuple[KeyPath, Any]]:
    node = None if is_leaf is not None and is_leaf(tree) else _definition(tree)
    if node is None:
        yield before, tree
        return
    if node.flatten_with_keys_fn is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {type(tree)}. Give one to register_pytree_node."
        )
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        yield from _paths(child, (*before, key), is_leaf)


def tree_leaves_with_path(tree: PyTree, is_leaf: IsLeaf = None) -> list[tuple[KeyPath, Any]]:
    """Pairs of path and leaf."""
    return list(_paths(tree, (), is_leaf))


def tree_flatten_with_path(
    tree: PyTree, is_leaf: IsLeaf = None
) -> tuple[list[tuple[KeyPath, Any]], TreeSpec]:
    """Pairs of path and leaf, and the spec."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: PyTree, *rests: PyTree, is_leaf: IsLeaf = None
) -> PyTree:
    """`tree_map` whose function gets the path first."""
    paths, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [*zip(*paths, strict=True)] if paths else [(), ()]
    further = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten([func(*each) for each in zip(*columns, *further, strict=True)])
