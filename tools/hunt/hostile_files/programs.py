"""Exported programs (.pt2) that say what is not there, call what is none of ours, or grow.

Each is a good program of two layers and a branch with one thing changed, so that what is refused is
that thing.
"""

from __future__ import annotations

import functools
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from .words import Entry, archive

__all__ = ["files", "good", "packed", "records"]

MODEL, WEIGHTS = "models/model.json", "data/weights/model_weights_config.json"
NUMBERS = (-1, 0, 1, 7, 2**31, 2**62, 2**63, 2**64, 10**30, 1.5, "3", None, True, [], {})
GONE = object()
Change = Callable[[Any], object]


@functools.cache
def good() -> bytes:
    """A program with a range, a branch, parameters and a buffer that it writes."""
    import taeda
    from taeda import nn
    from taeda.export import Dim, export, save

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 2)
            self.register_buffer("seen", taeda.zeros(()))

        def forward(self, x: taeda.Tensor) -> Any:
            self.seen.add_(1)
            y = self.layer(x)
            y = taeda.cond(y.sum() > 0, lambda y: y.sin(), lambda y: y - 1, (y,))
            return y.view(x.shape[0] * 2), y.split([1, 1], dim=1)

    given = (taeda.ones(4, 3),)
    program = export(Model().eval(), given, dynamic_shapes=({0: Dim("n", max=64)},))
    file = io.BytesIO()
    save(program.run_decompositions({}), file)
    return file.getvalue()


def records() -> dict[str, bytes]:
    """The records of the good file."""
    with zipfile.ZipFile(io.BytesIO(good())) as source:
        return {name.partition("/")[2]: source.read(name) for name in source.namelist()}


def packed(parts: dict[str, bytes], root: str = "archive") -> bytes:
    """A file of these records."""
    return archive(Entry(f"{root}/{name}", content) for name, content in parts.items())


def changed(record: str, change: Change) -> bytes:
    """The good file with a record of JSON changed."""
    parts = records()
    document = json.loads(parts[record])
    change(document)
    return packed(parts | {record: json.dumps(document).encode()})


def told(place: Callable[[Any], Any], **values: Any) -> Change:
    """The change that gives a place in the document these fields."""
    return lambda d: place(d).update(values)


def files() -> Iterator[tuple[str, bytes]]:
    """Of each kind one in turn, the most telling kinds first."""
    kinds = [
        code(),
        graphs(),
        growing(),
        signatures(),
        versions(),
        weights(),
        fields(),
        cut(),
        numbers(),
    ]
    while kinds:
        for kind in list(kinds):
            entry = next(kind, None)
            if entry is None:
                kinds.remove(kind)
            else:
                yield entry


# ---- places in the document ----


def graph(d: Any) -> Any:
    return d["graph_module"]["graph"]


def nodes(d: Any) -> Any:
    return graph(d)["nodes"]


def linear(d: Any) -> Any:
    return next(n for n in nodes(d) if ".linear." in n["target"])


def branch(d: Any) -> Any:
    return next(n for n in nodes(d) if n["target"].endswith(".cond"))


def inner(d: Any, k: int = 1) -> Any:
    return branch(d)["inputs"][k]["arg"]["as_graph"]["graph"]


def specs(d: Any) -> Any:
    return d["graph_module"]["signature"]


def user(d: Any) -> Any:
    return next(s for s in specs(d)["input_specs"] if "user_input" in s)["user_input"]["arg"]


def size_of(d: Any) -> Any:
    return graph(d)["tensor_values"][user(d)["as_tensor"]["name"]]["sizes"]


def weight(d: Any) -> Any:
    return d["config"]["layer.weight"]


# ---- what would run ----

TARGETS = (
    "os.system", "builtins.eval", "torch.ops.aten.add.__class__", "torch.ops.aten.__dir__.x",
    "torch.ops.aten.add.Tensor.__call__", "torch.ops.taeda.add", "_operator.attrgetter", "torch.load",
    "_operator.methodcaller", "torch.ops.load_library", "torch.ops.aten.no_such.default", "",
    "torch.ops.aten.add.Tensor\n", "torch.ops.higher_order.call_torchbind", "taeda.compile",
    "torch.ops.aten.add_.out", "torch.ops.aten.linear", "math.trunc", "torch.sym_ite", 3, None, ["x"],
)  # fmt: skip
NAMES = ("a; import os", "a b", "a\n", "1a", "a.b", "", "a" * 10_000, "é=1", "(x)", None, 5, ["x"])
FORMULAS = (
    "__import__('os').system('true')", "Symbol('s0').__class__", "lambda: 1", "open('x')", "s0 if 1",
    "Symbol('s0", "Integer(", "Add()", "Integer(1.5)", "Integer(2**99)", "Symbol('a b')", "", "9" * 400,
    "Integer(" * 400 + "1" + ")" * 400, "[1]", "FloorDiv(Integer(1), Integer(0))", None, 5,
)  # fmt: skip


def code() -> Iterator[tuple[str, bytes]]:
    for target in TARGETS:
        yield f"calls {target!r}", changed(MODEL, lambda d, t=target: linear(d).update(target=t))
        yield (
            f"a branch calls {target!r}",
            changed(MODEL, lambda d, t=target: inner(d)["nodes"][0].update(target=t)),
        )
    for name in NAMES:
        renamed = told(lambda d: linear(d)["outputs"][0]["as_tensor"], name=name)
        yield f"a value is called {name!r:.60}", changed(MODEL, renamed)
    for text in FORMULAS:
        wanted = {"as_expr": {"expr_str": text, "hint": {"as_int": 4}}}
        yield (
            f"a size is {text!r:.60}",
            changed(MODEL, lambda d, w=wanted: size_of(d).__setitem__(0, w)),
        )
    yield "guards as text", changed(MODEL, lambda d: d.update(guards_code=["__import__('os')"]))
    pickled = told(lambda d: weight(d), use_pickle=True)
    yield "a weight is a pickle", changed(WEIGHTS, pickled)
    for name in (
        "../../etc/passwd",
        "/etc/passwd",
        "layer.__class__",
        "a..b",
        "",
        "." * 300,
        "x" * 999,
    ):
        yield f"a parameter is called {name!r:.40}", _parameter_called(name)
    for kind in (
        "os.system",
        "collections.OrderedDict",
        "builtins.set",
        "builtins.eval",
        5,
        "",
        [1],
    ):
        yield f"arguments of class {kind!r}", changed(MODEL, lambda d, k=kind: _in_spec(d, k))


def _parameter_called(name: str) -> bytes:
    parts = records()
    model, config = json.loads(parts[MODEL]), json.loads(parts[WEIGHTS])
    first = next(s["parameter"] for s in specs(model)["input_specs"] if "parameter" in s)
    config["config"][name] = config["config"].pop(first["parameter_name"])
    first["parameter_name"] = name
    return packed(parts | {MODEL: json.dumps(model).encode(), WEIGHTS: json.dumps(config).encode()})


def _in_spec(d: Any, kind: Any) -> None:
    call = d["graph_module"]["module_call_graph"][0]["signature"]
    tree = json.loads(call["in_spec"])
    tree[1]["type"] = kind
    call["in_spec"] = json.dumps(tree)


# ---- graphs that are none ----


def graphs() -> Iterator[tuple[str, bytes]]:
    own = told(lambda d: linear(d)["inputs"][0]["arg"]["as_tensor"], name="linear")
    yield "a node reads itself", changed(MODEL, own)
    yield "nodes in reverse", changed(MODEL, lambda d: nodes(d).reverse())
    yield "a node twice", changed(MODEL, lambda d: nodes(d).append(nodes(d)[0]))
    unknown = told(lambda d: linear(d)["inputs"][0]["arg"]["as_tensor"], name="nobody")
    yield "a value that is nowhere", changed(MODEL, unknown)
    yield (
        "an argument twice",
        changed(MODEL, lambda d: linear(d)["inputs"].append(linear(d)["inputs"][0])),
    )
    strange = told(lambda d: linear(d)["inputs"][1], name="other")
    yield "an argument that is none", changed(MODEL, strange)
    yield "no inputs", changed(MODEL, lambda d: graph(d)["inputs"].clear())
    yield "no outputs", changed(MODEL, lambda d: graph(d)["outputs"].clear())
    yield "no values", changed(MODEL, lambda d: graph(d)["tensor_values"].clear())
    yield "a branch too few", changed(MODEL, lambda d: branch(d)["inputs"].pop(2))
    yield "a branch without results", changed(MODEL, lambda d: inner(d)["outputs"].clear())
    yield (
        "a branch of more tensors",
        changed(MODEL, lambda d: inner(d)["inputs"].append(inner(d)["inputs"][0])),
    )
    outside = told(lambda d: inner(d)["outputs"][0]["as_tensor"], name="linear")
    yield "a branch gives what is outside", changed(MODEL, outside)
    yield "results of a branch too few", changed(MODEL, lambda d: branch(d)["outputs"].clear())
    for kind in ("as_custom_obj", "as_operator", "as_nothing", "as_tensor "):
        wrong = told(lambda d: linear(d)["inputs"][1], arg={kind: {"name": "x"}})
        yield f"an argument of the kind {kind!r}", changed(MODEL, wrong)
    both = told(lambda d: linear(d)["inputs"][1]["arg"], as_int=1)
    yield "an argument of two kinds", changed(MODEL, both)
    for number in (0, 9, 14, 99, -1, "7", None, [7]):
        dtyped = told(lambda d: graph(d)["tensor_values"]["linear"], dtype=number)
        yield f"the dtype {number!r}", changed(MODEL, dtyped)


# ---- growth ----


def growing() -> Iterator[tuple[str, bytes]]:
    sums = "Add(" + ", ".join(f"Symbol('s{k}')" for k in range(20)) + ")"
    large = {
        "a size of 10^10 terms": f"Mul({', '.join([sums] * 20)})",
        "a number of 10^30 digits": "Pow(" * 30 + "Integer(9)" + ", Integer(8))" * 30,
        "a size as text of 1 MB": "Add(" + "Integer(1), " * 90_000 + "Integer(1))",
    }
    for name, text in large.items():
        wanted = {"as_expr": {"expr_str": text}}
        yield name, changed(MODEL, lambda d, w=wanted: size_of(d).__setitem__(0, w))
    ranks = {"as_int": 1}
    shape = told(lambda d: graph(d)["tensor_values"]["linear"], sizes=[ranks] * 9999)
    yield "a tensor of 9,999 dimensions", changed(MODEL, shape)
    yield "100,000 nodes, the last one unknown", changed(MODEL, lambda d: _many(d, 100_000, "x"))
    yield "1,000,000 nodes", changed(MODEL, lambda d: _many(d, 1_000_000, None))
    for depth in (21, 50):
        yield (
            f"branches in branches, {depth} deep",
            changed(MODEL, lambda d, n=depth: _nested(d, n)),
        )
    for depth in (200, 10_000):
        deep = '{"type": "builtins.tuple", "context": "null", "children_spec": ['
        text = f"[1, {deep * depth}{']}' * depth}]"
        tree = told(lambda d: d["graph_module"]["module_call_graph"][0]["signature"], in_spec=text)
        yield f"arguments {depth} deep", changed(MODEL, tree)
    for mark, end in (("[", "]"), ('{"a":', "}")):
        parts = records()
        text = parts[MODEL][:-1] + f', "x": {mark * 100_000}1{end * 100_000}}}'.encode()
        yield f"100,000 {mark!r} in the model", packed(parts | {MODEL: text})
    yield "100,000 weights that are one", _weights(100_000)


def _many(d: Any, count: int, last: str | None) -> None:
    node = dict(nodes(d)[0])
    made = nodes(d)
    if last is None:
        made += [node] * count
        return
    tail = {"target": "_operator.neg", "inputs": [{"name": "", "arg": {"as_int": 1}, "kind": 1}],
        "metadata": {}}  # fmt: skip
    made += [tail | {"outputs": [{"as_sym_int": {"as_name": f"n{k}"}}]} for k in range(count)]
    graph(d)["sym_int_values"] |= {f"n{k}": {"as_int": -1} for k in range(count)}
    made.append(tail | {"target": last, "outputs": []})


def _nested(d: Any, depth: int) -> None:
    for _ in range(depth):
        name = next(iter(inner(d)["tensor_values"]))
        outer = inner(d)
        node = dict(branch(d))
        node["inputs"] = [dict(entry) for entry in node["inputs"]]
        node["inputs"][1] |= {"arg": {"as_graph": {"name": "f", "graph": outer}}}
        branch(d)["inputs"][1]["arg"]["as_graph"]["graph"] = {
            **outer, "nodes": [node], "outputs": [{"as_tensor": {"name": name}}],
        }  # fmt: skip


def _weights(count: int) -> bytes:
    parts = records()
    config = json.loads(parts[WEIGHTS])
    first = next(iter(config["config"].values()))
    first["tensor_meta"]["sizes"] = [{"as_int": 2**40}]
    config["config"] |= {f"w{k}": first for k in range(count)}
    return packed(parts | {WEIGHTS: json.dumps(config).encode()})


# ---- signatures, versions ----


def signatures() -> Iterator[tuple[str, bytes]]:
    for which in ("input_specs", "output_specs"):
        yield f"{which} too few", changed(MODEL, lambda d, w=which: specs(d)[w].pop())
        yield (
            f"{which} too many",
            changed(MODEL, lambda d, w=which: specs(d)[w].append(specs(d)[w][0])),
        )
        yield f"{which} in reverse", changed(MODEL, lambda d, w=which: specs(d)[w].reverse())
        for kind in ("custom_obj", "token", "gradient_to_parameter", "loss_output", "x"):
            entry = {kind: {"arg": {"name": "x"}}}
            yield (
                f"one of {which} is a {kind}",
                changed(MODEL, lambda d, w=which, e=entry: specs(d)[w].__setitem__(0, e)),
            )
    mutated = told(
        lambda d: next(iter(specs(d)["output_specs"][0].values())), buffer_name="layer.weight"
    )
    yield "the new value of what is no buffer", changed(MODEL, mutated)
    yield "no calls", changed(MODEL, lambda d: d["graph_module"]["module_call_graph"].clear())
    for text in ("", "[]", "[2, {}]", "[1, 5]", "[1, null]", '[1, {"type": null}]', "{", None, 5):
        tree = told(lambda d: d["graph_module"]["module_call_graph"][0]["signature"], in_spec=text)
        yield f"the arguments are {text!r}", changed(MODEL, tree)


def versions() -> Iterator[tuple[str, bytes]]:
    for major in (0, 7, 9, 10**9, -8, "8", None, [8], 8.5):
        newer = told(lambda d: d["schema_version"], major=major)
        yield f"version {major!r}", changed(MODEL, newer)
    yield "no version", changed(MODEL, lambda d: d.pop("schema_version"))
    for name, content in {
        "archive_format": b"pt3", "byteorder": b"big", "models/model.json": b"", "archive_version": b"99",
    }.items():  # fmt: skip
        yield f"{name} is {content!r}", packed(records() | {name: content})
    for name in records():
        if name.startswith((".data", "data/sample", "archive_version", "byteorder")):
            continue
        yield f"without {name}", packed({k: v for k, v in records().items() if k != name})
    two = [Entry(f"archive/{n}", c) for n, c in records().items()]
    yield "records in two folders", archive([*two, Entry("other/x", b"")])
    yield "a record twice", archive([*two, two[0]])


# ---- weights ----


def weights() -> Iterator[tuple[str, bytes]]:
    shapes = (
        [],
        [6],
        [3, 2],
        [2, 4],
        [2, 3, 1],
        [2**31, 2**31],
        [2**62],
        [-2, -3],
        [10**30],
        [2.0, 3],
    )
    for sizes in shapes:
        yield f"a weight of shape {sizes}", _shaped(sizes)
    for strides in ([10**9, 1], [-3, 1], [2**62, 2**62], [1], [1, 2, 3]):
        moved = told(lambda d: weight(d)["tensor_meta"], strides=_ints(strides))
        yield f"a weight with strides {strides}", changed(WEIGHTS, moved)
    for offset in (1, 7, 2**40, -1, 2**63, None):
        placed = told(lambda d: weight(d)["tensor_meta"], storage_offset={"as_int": offset})
        yield f"a weight {offset!r} numbers on", changed(WEIGHTS, placed)
    for path in ("weight_9", "", "../x", None, 5):
        pointed = told(lambda d: weight(d), path_name=path)
        yield f"a weight in {path!r}", changed(WEIGHTS, pointed)
    for number in (0, 8, 9, 99, "7", None):
        typed = told(lambda d: weight(d)["tensor_meta"], dtype=number)
        yield f"a weight of dtype {number!r}", changed(WEIGHTS, typed)
    for number in (5, 8):
        wider = told(lambda d: weight(d)["tensor_meta"], dtype=number)
        yield f"a weight of another dtype, {number}", changed(WEIGHTS, wider)
    yield (
        "a weight of another layout",
        changed(WEIGHTS, lambda d: weight(d)["tensor_meta"].update(layout=1)),
    )
    yield "a weight is gone", changed(WEIGHTS, lambda d: d["config"].pop("layer.weight"))
    yield "no weights", changed(WEIGHTS, lambda d: d.pop("config"))


def _ints(numbers: Any) -> list[Any]:
    return [{"as_int": n} for n in numbers]


def _shaped(sizes: list[Any]) -> bytes:
    strides = [1] * len(sizes)
    meta = {"sizes": _ints(sizes), "strides": _ints(strides)}
    return changed(WEIGHTS, lambda d: weight(d)["tensor_meta"].update(meta))


# ---- every field, cuts ----


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the fields of a document lie."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inside in entries:
        yield (*path, key)
        if isinstance(inside, dict | list):
            yield from places(inside, (*path, key))


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    for key in path[:-1]:
        document = document[key]
    if value is GONE:
        del document[path[-1]]
    else:
        document[path[-1]] = value


NEEDED = (
    "target", "inputs", "outputs", "nodes", "tensor_values", "sizes", "strides", "dtype", "in_spec",
    "out_spec", "input_specs", "output_specs", "graph", "graph_module", "signature", "schema_version",
    "module_call_graph", "range_constraints", "name", "arg",
)  # fmt: skip


def fields() -> Iterator[tuple[str, bytes]]:
    """A field that every file has, gone or of another kind."""
    document = json.loads(records()[MODEL])
    for path in places(document):
        unread = "module_call_graph" in path and path[-1] in ("inputs", "outputs")
        if (
            path[-1] not in NEEDED
            or "range_constraints" in path[:-1]
            or path[-1] == "name"
            or unread
        ):
            continue
        for value in (GONE, None, -5):
            said = "gone" if value is GONE else repr(value)
            yield (
                f"{'.'.join(map(str, path))} is {said}",
                changed(MODEL, lambda d, p=path, v=value: put(d, p, v)),
            )


def cut() -> Iterator[tuple[str, bytes]]:
    """The file, and its model, ended early."""
    data, parts = good(), records()
    for part in range(1, 40):
        yield f"{part}/40 of it", data[: len(data) * part // 40]
        text = parts[MODEL]
        yield f"{part}/40 of the model", packed(parts | {MODEL: text[: len(text) * part // 40]})
    for name in parts:
        if name.startswith(("data/weights/weight", "models")):
            yield f"{name} with a bit flipped", _flipped(data, parts[name])


def _flipped(data: bytes, content: bytes) -> bytes:
    at = data.index(content) + len(content) // 2
    return data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :]


def numbers() -> Iterator[tuple[str, bytes]]:
    """Numbers of ranges that are none, or far away."""
    for number in NUMBERS:
        if number in (1, 7) and number is not True:
            continue
        for field in ("min_val", "max_val"):
            if number is None or (field == "max_val" and type(number) is int and number > 0):
                continue

            def change(d: Any, f: str = field, n: Any = number) -> None:
                next(iter(d["range_constraints"].values()))[f] = n

            if type(number) is int and field == "min_val" and number <= 0:
                continue  # a range may begin below what sizes are
            yield f"{field} is {number!r:.40}", changed(MODEL, change)
