"""The records of an archive as an exported program.

Everything in the file is data: names are looked up in tables, formulas are parsed, and what is not
known is refused.
"""

from __future__ import annotations

import json
import math
import operator
import re
import zlib
from dataclasses import replace
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api.files import FormatError, Record, read_directory
from taeda.fx.experimental._expressions import Expression, constant
from taeda.fx.experimental._ranges import ValueRanges
from taeda.fx.graph import Graph
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from .._functions import CONDITION, LOOP, MAP, NAMES, SCAN
from ..exported_program import ExportedProgram
from ..graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from ._calls import check_arguments, kept_calls
from ._conditions import condition_of
from ._formulas import formula_of
from ._kinds import DTYPES, FORMATS, LAYOUTS, NUMBERS, SCHEMA, TENSORS, WRITTEN
from ._operators import FUNCTIONS
from ._stacks import stack_of
from ._trees import spec_of

__all__ = ["Archive", "program_of"]

_LARGEST, _MOST_DIMS, _MOST_NODES, _DEEPEST = 1 << 28, 64, 200_000, 20
_MOST_CONDITIONS = 1000
#: how archives are written that are read here: numbers of others would be other ones
_WRITTEN_AS = {"byteorder": b"little", "archive_version": b"0"}
#: the program in archives without folders
_OLD_LAYOUT = "serialized_exported_program.json"
_FUNCTIONS = {f"torch.ops.higher_order.{name}": target for target, name in NAMES.items()}
#: their arguments: values, functions, lists of values
_SHOWN = {CONDITION: "ngg[", LOOP: "gg[[", SCAN: "g[[[", MAP: "g[["}
_NAME = re.compile(r"[A-Za-z_]\w{0,200}\Z")
_TARGET = re.compile(r"torch\.ops\.(aten|taeda)\.([A-Za-z_]\w{0,80})\.([A-Za-z_]\w{0,80})\Z")


class Archive:
    """The records of an open file, under the one folder that all of them lie in."""

    def __init__(self, source: Any) -> None:
        self.source = source
        self.records: dict[str, Record] = {}
        roots = set()
        for name, record in read_directory(source).items():
            root, _, rest = name.partition("/")
            roots.add(root)
            self.records[rest] = record
        if _OLD_LAYOUT in roots | self.records.keys():
            raise FormatError(
                "the file is an archive of PyTorch 2.7 or older, whose weights are pickled: load it "
                "there, and save it with PyTorch 2.13"
            )
        if len(roots) != 1 or self.get("archive_format", 100) != b"pt2":
            raise FormatError(
                "the file is no archive of an exported program: no 'pt2' in it says so"
            )
        for name, wanted in _WRITTEN_AS.items():
            if name in self.records and (found := self.get(name, 100)) != wanted:
                raise FormatError(f"the file has {name} {found!r}; {wanted!r} is read here")

    def get(self, name: str, limit: int = _LARGEST) -> bytes | None:
        """The bytes of a record; None if there is none."""
        record = self.records.get(name)
        if record is None:
            return None
        if record.deflated or record.nbytes > limit:
            raise FormatError(f"the record {name} is compressed or too large")
        found: bytes = self.source.read(record.begin, record.nbytes)
        if zlib.crc32(found) != record.crc:
            raise FormatError(f"the record {name} is damaged: its checksum is another one")
        return found

    def document(self, name: str) -> Any:
        """A record of JSON."""
        found = self.get(name)
        if found is None:
            raise FormatError(f"the file has no record {name}")
        try:
            return json.loads(found)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"the record {name} is no JSON: {error}") from None


def program_of(archive: Archive) -> ExportedProgram:
    """The program of an archive. FormatError says what is wrong with it."""
    try:
        program = _Reader(archive).program()
        program.module()  # names of tensors that no module can have
        return program
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError,
            OverflowError) as error:  # fmt: skip
        said = f"{type(error).__name__}: {error}"
        raise FormatError(f"the program in the file is malformed ({said:.200})") from error


class _GraphReader:
    """The nodes of a graph: the program's, or that of a function in it."""

    def __init__(self, described: Any, depth: int = 0) -> None:
        if len(described["nodes"]) > _MOST_NODES or depth > _DEEPEST:
            raise FormatError(
                f"the program has more than {_MOST_NODES} nodes, or functions in functions "
                f"{_DEEPEST} deep"
            )
        self.described, self.depth = described, depth
        self.graph = Graph()
        self.nodes: dict[str, Node] = {}
        self.functions: dict[str, GraphModule] = {}
        self.stack: dict[str, tuple[str, str]] | None = None

    def function(self) -> GraphModule:
        """The graph as a function of tensors, which gives a tuple of them."""
        for entry in self.described["inputs"]:
            ((kind, value),) = _union(entry)
            if kind != "as_tensor":
                raise FormatError(f"a function gets a {kind!r:.60}: tensors are read")
            name = _name(value["name"])
            node = self._enter(name, self.graph.placeholder(name))
            node.target = node.name
            _describe(node, *self._described(name))
        for entry in self.described["nodes"]:
            self._node(entry)
        self.graph.output(tuple(self._output(o) for o in self.described["outputs"]))
        made = GraphModule(self.functions, self.graph)
        made.graph.lint()
        return made

    def _enter(self, name: str, node: Node) -> Node:
        if name in self.nodes:
            raise FormatError(f"two values of the program are called {name!r:.80}")
        self.nodes[name] = node
        return node

    def _described(self, name: str) -> tuple[Any, Any, Any]:
        """Of a tensor: one without elements of its dtype and rank, formulas of sizes and strides."""
        meta = self.described["tensor_values"][name]
        shape, stride = (tuple(map(_formula, meta[key])) for key in ("sizes", "strides"))
        if len(shape) > _MOST_DIMS or len(shape) != len(stride):
            raise FormatError(f"{name!r:.80} has {len(shape)} sizes and {len(stride)} strides")
        value = taeda.empty([0] * len(shape), dtype=_dtype(meta["dtype"]), device="meta")
        if meta["requires_grad"] and value.is_floating_point():
            value.requires_grad_()
        return value, shape, stride

    # ---- nodes ----

    def _output(self, entry: Any) -> Any:
        ((kind, value),) = _union(entry)
        return self._known(value["name"]) if kind == "as_tensor" else _plain(kind, value)

    def _known(self, name: Any) -> Node:
        if name not in self.nodes:
            raise FormatError(f"the program reads {name!r:.80} before it is there")
        return self.nodes[name]

    def _called(self, target: Any, args: Any, kwargs: Any = None, name: str | None = None) -> Node:
        """A call in the graph, in the modules that this entry names."""
        node = self.graph.call_function(target, args, kwargs, name=name)
        if self.stack is not None:
            node.meta["nn_module_stack"] = self.stack
        return node

    def _node(self, entry: Any) -> None:
        target = _target(entry["target"])
        said = (entry.get("metadata") or {}).get("nn_module_stack")
        self.stack = None if said is None else stack_of(said)
        if target in _SHOWN:
            self._call_of_functions(target, entry)
            return
        args, kwargs = self._arguments(target, entry["inputs"])
        outputs = [next(iter(_union(o))) for o in entry["outputs"]]
        if len(outputs) == 1 and outputs[0][0] in (
            "as_tensor",
            "as_sym_int",
            "as_sym_float",
            "as_sym_bool",
        ):
            value = outputs[0][1]
            name = _name(value["name"] if outputs[0][0] == "as_tensor" else value["as_name"])
            node = self._enter(name, self._called(target, args, kwargs, name))
            self._note(node, name, outputs[0][0])
            return
        self._parts(self._called(target, args, kwargs), _part_names(outputs))

    def _parts(self, node: Node, names: list[str]) -> None:
        """What a call gives that gives several tensors: a node for each."""
        facts = []
        for k, name in enumerate(names):
            part = self._called(operator.getitem, (node, k), name=_name(name))
            facts.append(self._described(name))
            _describe(self._enter(name, part), *facts[-1])
        _describe(node, *([f[k] for f in facts] for k in range(3)))

    def _call_of_functions(self, target: Any, entry: Any) -> None:
        """A branch or a loop: what it gives is a node each."""
        args = [self._to_function(e["arg"]) for e in entry["inputs"]]
        if [_shown(a) for a in args] != list(_SHOWN[target]):
            raise FormatError(f"{entry['target']!r:.60} has other arguments than it takes")
        given = [one for group in args if _shown(group) == "[" for one in group]
        functions = [self.functions[a.target] for a in args if _shown(a) == "g"]
        node = self._called(target, tuple(args))
        outputs = _part_names([next(iter(_union(o))) for o in entry["outputs"]])
        counts = [len(list(f.graph.output_node().args[0])) for f in functions]
        wanted = [1, len(args[2])] if target is LOOP else [len(outputs)] * len(functions)
        inputs = [len(list(f.graph.find_nodes(op="placeholder"))) for f in functions]
        several = () if target in (CONDITION, LOOP) else args[-2]
        least = len(args[1]) if target is SCAN else 0
        if target in (SCAN, MAP) and (not several or least > len(outputs)):
            raise FormatError(f"{node.name} slices no tensor, or gives fewer than it carries")
        if counts != wanted or inputs != [len(given)] * len(functions):
            raise FormatError(
                f"the functions of {node.name} take {inputs} tensors and give {counts}: "
                f"{len(given)} and {wanted} were wanted"
            )
        self._parts(node, outputs)

    def _to_function(self, entry: Any) -> Any:
        ((kind, value),) = _union(entry)
        if kind == "as_tensors":
            return tuple(self._known(v["name"]) for v in value)
        if kind == "as_tensor":
            return self._known(value["name"])
        if kind == "as_ints" and value == []:  # an empty list has no kind
            return ()
        if kind != "as_graph":
            raise FormatError(f"a function gets a {kind!r:.60}: tensors are read")
        name = f"graph_{len(self.functions)}"
        self.functions[name] = _GraphReader(value["graph"], self.depth + 1).function()
        return self.graph.get_attr(name)

    def _note(self, node: Node, name: str, kind: str) -> None:
        if kind == "as_tensor":
            _describe(node, *self._described(name))
        elif kind == "as_sym_int":
            size = _formula(self.described["sym_int_values"][name])
            _describe(node, 0, size, size)
        elif kind == "as_sym_float":
            _describe(node, 0.0, None, None)
        elif kind == "as_sym_bool":
            _describe(node, True, None, None)

    def _arguments(self, target: Any, entries: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
        schema = getattr(target, "_schema", None)
        values = [(str(e["name"]), self._argument(e["arg"]), e.get("kind")) for e in entries]
        if schema is None:
            named = {n: v for n, v, kind in values if kind == 2}
            return tuple(v for _, v, kind in values if kind != 2), named
        order = [a.name for a in schema.arguments]
        only = {a.name for a in schema.arguments if a.kwarg_only}
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        taken: set[str] = set()
        for name, value, _ in values:
            if name in taken:
                raise FormatError(f"{target} has the argument {name} twice")
            taken.add(name)
            if name not in order:
                if value in (None, False):  # a switch that this row does not have, and that is off
                    continue
                raise FormatError(f"{target} has no argument {name!r:.60}")
            if (
                name not in only
                and len(args) < len(order)
                and order[len(args)] == name
                and not kwargs
            ):
                args.append(value)
            else:
                kwargs[name] = value
        return tuple(args), kwargs

    def _argument(self, entry: Any) -> Any:
        ((kind, value),) = _union(entry)
        if kind == "as_tensor":
            return self._known(value["name"])
        if kind in ("as_sym_int", "as_sym_float", "as_sym_bool"):
            return self._number(value)
        if kind == "as_tensors":
            return [self._known(v["name"]) for v in value]
        if kind in ("as_optional_tensors",):
            return [self._optional(v) for v in value]
        if kind == "as_optional_tensor":
            return self._optional(value)
        if kind in ("as_sym_ints", "as_sym_floats"):
            return [self._number(v) for v in value]
        return _plain(kind, value)

    def _optional(self, entry: Any) -> Any:
        ((kind, value),) = _union(entry)
        return self._known(value["name"]) if kind == "as_tensor" else None

    def _number(self, entry: Any) -> Any:
        ((kind, value),) = _union(entry)
        if kind == "as_name":
            return self._known(value)
        if kind not in ("as_int", "as_float", "as_bool"):
            raise FormatError(f"a number of the kind {kind!r:.60} is not read")
        return _plain(kind, value)


class _Reader(_GraphReader):
    """One program on its way from JSON."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        document = archive.document("models/model.json")
        _check_version(document)
        self.document, self.module = document, document["graph_module"]
        super().__init__(self.module["graph"])

    def program(self) -> ExportedProgram:
        signature = self._signature()
        state = self._tensors("data/weights/", "model_weights_config")
        constants = self._tensors("data/constants/", "model_constants_config")
        self._check_state(signature, state, constants)
        self._inputs(signature)
        self._check_kinds(signature, state, constants)
        for entry in self.described["nodes"]:
            self._node(entry)
        results = [self._output(o) for o in self.described["outputs"]]
        if len(results) != len(signature.output_specs):
            raise FormatError("the graph has another number of outputs than its signature")
        for spec, node in zip(signature.output_specs, results, strict=True):
            if isinstance(spec.arg, TensorArgument) and self._known(spec.arg.name) is not node:
                raise FormatError(f"the result {spec.arg.name!r:.80} is another one in the graph")
        self.graph.output(tuple(results))
        specs = self._specs(signature)
        guards = self._conditions(signature)  # by the names of the file
        self._rename(signature)
        calls = kept_calls(self.module["module_call_graph"], self._leaf)
        named = {a.name for c in calls for a in (*c.signature.inputs, *c.signature.outputs)}  # type: ignore[union-attr]
        for node in list(self.graph.nodes):  # at other sizes a list may have fewer parts
            if node.target is operator.getitem and not node.users and node.name not in named:
                self.graph.erase_node(node)
        gm = GraphModule(self.functions, self.graph)
        gm.graph.lint()
        ranges = self._ranges()
        return ExportedProgram(
            gm, signature, state, constants, ranges, guards, specs, module_calls=calls
        )

    def _conditions(self, signature: ExportGraphSignature) -> list[Any]:
        """What must hold between the sizes of the arguments."""
        given = self.document.get("guards_code") or []
        if not isinstance(given, list) or len(given) > _MOST_CONDITIONS:
            raise FormatError(
                f"the conditions of a program are a list of {_MOST_CONDITIONS} at most"
            )
        names = [n for n in signature.user_inputs if isinstance(n, str) and n in self.nodes]
        sizes = {n: self.nodes[n].meta["shape"] for n in names if "shape" in self.nodes[n].meta}
        return [condition_of(text, sizes) for text in given]

    def _leaf(self, entry: Any) -> TensorArgument | ConstantArgument:
        """A leaf of the arguments or results of a call inside, by the name of its node."""
        made = _argument_spec(entry)
        if isinstance(made, TensorArgument):
            made = replace(made, name=self._known(made.name).name)
        return made

    def _rename(self, signature: ExportGraphSignature) -> None:
        """Nodes under their names in the graph, which are those of the file where Python allows."""
        lists: tuple[list[Any], ...] = (signature.input_specs, signature.output_specs)
        for specs in lists:
            for k, spec in enumerate(specs):
                if spec.arg.name:
                    arg = replace(spec.arg, name=self._known(spec.arg.name).name)
                    specs[k] = spec = replace(spec, arg=arg)
                if spec.kind is OutputKind.USER_INPUT_MUTATION:
                    specs[k] = replace(spec, target=self._known(spec.target).name)

    def _ranges(self) -> dict[str, ValueRanges]:
        made = {}
        for name, limits in self.document["range_constraints"].items():
            least, most = limits["min_val"], limits["max_val"]
            if not all(n is None or type(n) is int for n in (least, most)):
                raise FormatError(
                    f"the range of {name!r:.80} is from {least!r:.40} to {most!r:.40}"
                )
            upper = math.inf if most is None else most
            made[str(name)] = ValueRanges(-math.inf if least is None else least, upper)
        return made

    def _specs(self, signature: ExportGraphSignature) -> Any:
        root = self.module["module_call_graph"][0]
        call = root["signature"]
        if root["fqn"] != "" or call is None:
            raise FormatError("the file does not say how the program is called")
        made = spec_of(call["in_spec"]), spec_of(call["out_spec"])
        counts = len(signature.user_inputs), len(signature.user_outputs)
        if (made[0].num_leaves, made[1].num_leaves) != counts:
            raise FormatError("the shape of arguments or results has another number of leaves")
        check_arguments(made[0])
        return made

    # ---- tensors ----

    def _tensors(self, folder: str, config: str) -> dict[str, Tensor]:
        made: dict[str, Tensor] = {}
        known: dict[Any, Tensor] = {}
        for name, entry in self.archive.document(f"{folder}{config}.json")["config"].items():
            if entry["use_pickle"] or entry["tensor_meta"] is None:
                raise FormatError(
                    f"{name!r:.80} is a pickled object, which is not read: it could be any code"
                )
            key = (str(entry["path_name"]), json.dumps(entry["tensor_meta"]), entry["is_param"])
            if key not in known:
                known[key] = self._tensor(folder + key[0], entry["tensor_meta"])
                if entry["is_param"]:
                    needs = bool(entry["tensor_meta"]["requires_grad"])
                    known[key] = nn.Parameter(known[key], requires_grad=needs)
            made[name] = known[key]
        return made

    def _tensor(self, path: str, meta: Any) -> Tensor:
        dtype = _dtype(meta["dtype"])
        if meta["layout"] != 7:
            raise FormatError(f"{path}: only strided tensors are read")
        sizes, strides = (_integers(meta[key]) for key in ("sizes", "strides"))
        offset = _integers([meta["storage_offset"]])[0]
        record = self.archive.records.get(path)
        if record is None or len(sizes) != len(strides):
            raise FormatError(f"there is no tensor {path!r:.100} in the file")
        empty = 0 in sizes
        last = offset + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        if not empty and (last + 1) * dtype.itemsize > record.nbytes:
            raise FormatError(f"{path} holds {record.nbytes} bytes, and a tensor that needs more")
        if empty:
            return taeda.empty(sizes, dtype=dtype)
        if math.prod(sizes) * dtype.itemsize > record.nbytes:
            raise FormatError(f"{path} holds {record.nbytes} bytes, and a tensor that repeats them")
        content = self.archive.get(path, record.nbytes) or b""
        whole = len(content) // dtype.itemsize * dtype.itemsize
        flat = taeda.frombuffer(bytearray(content[:whole]), dtype=dtype)
        return flat.as_strided(sizes, strides, offset).clone(memory_format=taeda.preserve_format)

    # ---- signature ----

    def _signature(self) -> ExportGraphSignature:
        described = self.module["signature"]
        made = ExportGraphSignature()
        for entry in described["input_specs"]:
            ((kind, value),) = _union(entry)
            made.input_specs.append(_input_spec(kind, value))
        for entry in described["output_specs"]:
            ((kind, value),) = _union(entry)
            if kind == "user_output":
                spec = OutputSpec(OutputKind.USER_OUTPUT, _argument_spec(value["arg"]))
            else:
                spec = _new_value(kind, value, made)
            made.output_specs.append(spec)
        return made

    def _check_state(self, signature: Any, state: Any, constants: Any) -> None:
        for spec in signature.input_specs:
            if spec.kind is InputKind.USER_INPUT:
                continue
            kept = spec.kind is InputKind.PARAMETER or spec.persistent
            if spec.target not in (state if kept else constants):
                raise FormatError(f"the file has no tensor for {spec.target!r:.80}")
            parts = spec.target.split(".")
            if len(parts) > 100 or not all(re.fullmatch(r"\w{1,200}", p) for p in parts):
                raise FormatError(f"{spec.target!r:.80} is no name of a tensor of a module")
            if spec.kind is InputKind.PARAMETER and not isinstance(
                state[spec.target], nn.Parameter
            ):
                raise FormatError(f"{spec.target!r:.80} is a parameter in one place only")

    def _check_kinds(self, signature: Any, state: Any, constants: Any) -> None:
        """FormatError where a tensor of the file is another one than the program was made for."""
        for spec in signature.input_specs:
            if spec.kind is InputKind.USER_INPUT:
                continue
            kept = spec.kind is InputKind.PARAMETER or spec.persistent
            tensor = (state if kept else constants)[spec.target]
            meta = self._known(spec.arg.name).meta
            wanted = [e.number if e.number is not None else str(e) for e in meta["shape"]]
            if list(tensor.shape) != wanted or tensor.dtype != meta["val"].dtype:
                raise FormatError(
                    f"{spec.target!r:.80} is a {tensor.dtype} tensor of shape {list(tensor.shape)}, and "
                    f"the program is for {meta['val'].dtype} of shape {wanted}"
                )

    def _inputs(self, signature: ExportGraphSignature) -> None:
        if len(self.described["inputs"]) != len(signature.input_specs):
            raise FormatError("the graph has another number of inputs than its signature")
        for spec, entry in zip(signature.input_specs, self.described["inputs"], strict=True):
            name = spec.arg.name
            ((kind, value),) = _union(entry)
            tensor = isinstance(spec.arg, TensorArgument)
            if tensor and (kind != "as_tensor" or value["name"] != name):
                raise FormatError(f"the input {name!r:.80} is another one in the signature")
            node = self._enter(name, self.graph.placeholder(_name(name)))
            node.target = node.name  # a name of the file that is none of a variable is another one
            if tensor:
                _describe(node, *self._described(name))


# ---- pieces ----


def _shown(value: Any) -> str:
    """A letter for the kind of an argument of a call of functions."""
    if isinstance(value, tuple):
        return "["
    return "g" if value.op == "get_attr" else "n"


def _new_value(kind: str, value: Any, signature: ExportGraphSignature) -> OutputSpec:
    """An output that is the new value of an input, which must be one of the program."""
    for mine, (name, field) in WRITTEN.items():
        if kind == name:
            target = value[field]
            known = {
                OutputKind.BUFFER_MUTATION: signature.buffers,
                OutputKind.PARAMETER_MUTATION: signature.parameters,
                OutputKind.USER_INPUT_MUTATION: [
                    s.arg.name
                    for s in signature.input_specs
                    if s.kind is InputKind.USER_INPUT and isinstance(s.arg, TensorArgument)
                ],
            }[mine]
            if target not in known:
                raise FormatError(
                    f"an output is the new value of {target!r:.80}, which is no input"
                )
            return OutputSpec(mine, TensorArgument(_name(value["arg"]["name"])), target)
    raise FormatError(
        f"an output of the program is a {kind!r:.60}, which is not read: results and new values of "
        "buffers, parameters and arguments are"
    )


def _describe(node: Node, value: Any, shape: Any, stride: Any) -> None:
    node.meta.update(val=value, shape=shape, stride=stride)


def _check_version(document: Any) -> None:
    """Any minor version is read: fields that are new are not, and fields that were not there yet are
    as if empty. Another major one means something else by the same words.
    """
    version = document["schema_version"]
    major, minor = version["major"], version["minor"]
    if type(major) is not int or type(minor) is not int or min(major, minor) < 0:
        raise FormatError(f"the file has version {major!r:.20}.{minor!r:.20}, which is none")
    if major != SCHEMA[0]:
        advice = (
            "it is newer than this library: update taeda, or write the program again with one that "
            f"writes version {SCHEMA[0]} (PyTorch 2.13 does)"
            if major > SCHEMA[0]
            else "it is older: load it where it was written, and save it there with PyTorch 2.13 or taeda"
        )
        raise FormatError(
            f"the file has version {major}.{minor} of the format, written by "
            f"{document.get('torch_version')!r:.60}; version {SCHEMA[0]} is read here, and {advice}"
        )


def _union(entry: Any) -> list[tuple[str, Any]]:
    """The one field that is set; some writers list the others as null."""
    found = [(k, v) for k, v in entry.items() if v is not None]
    if len(found) != 1:
        raise FormatError(f"a value of one kind was wanted, got {list(entry)!r:.80}")
    return found


def _name(name: Any) -> str:
    if not isinstance(name, str) or not _NAME.match(name):
        raise FormatError(f"{name!r:.80} is no name of a value")
    return name


def _dtype(number: Any) -> taeda.dtype:
    if type(number) is not int or number not in DTYPES:
        raise FormatError(f"the dtype {number!r:.40} of the format is not read")
    return DTYPES[number]


def _integers(entries: Any) -> list[int]:
    made = []
    for entry in entries:
        ((kind, value),) = _union(entry)
        if kind != "as_int" or type(value) is not int or not 0 <= value < 2**62:
            raise FormatError(f"a size, stride or offset of a tensor is {value!r:.60}")
        made.append(value)
    if len(made) > _MOST_DIMS:
        raise FormatError(f"a tensor of {len(made)} dimensions")
    return made


def _formula(entry: Any) -> Expression:
    ((kind, value),) = _union(entry)
    if kind == "as_int" and type(value) is int:
        return constant(value)
    if kind != "as_expr":
        raise FormatError(f"a size of the kind {kind!r:.60} is not read")
    return formula_of(value["expr_str"])


def _target(text: Any) -> Any:
    for table in (NUMBERS, FUNCTIONS):
        if text in table:
            return table[text]
    found = _TARGET.match(text) if isinstance(text, str) else None
    if text in _FUNCTIONS:
        return _FUNCTIONS[text]
    if text == "torch.ops.aten.sym_size.int":
        return taeda.ops.aten.sym_size.int
    if found:
        row = f"{found[2]}.{found[3]}"
        name, overload = TENSORS.get(row, row).split(".")
        if name in dir(taeda.ops.aten):
            packet = getattr(taeda.ops.aten, name)
            if overload in packet.overloads():
                return getattr(packet, overload)
    raise FormatError(
        f"the program calls {text!r:.100}, which is no operator of taeda {taeda.__version__}"
    )


def _part_names(outputs: list[tuple[str, Any]]) -> list[str]:
    if len(outputs) == 1 and outputs[0][0] == "as_tensors":
        return [entry["name"] for entry in outputs[0][1]]
    made: list[str] = []
    for kind, value in outputs:
        if kind != "as_tensor":
            raise FormatError(f"a result of the kind {kind!r:.60} is not read")
        made.append(value["name"])
    return made


_KINDS: dict[str, Any] = {
    "as_int": int, "as_bool": bool, "as_string": str, "as_ints": list, "as_bools": list,
    "as_floats": list, "as_strings": list,
}  # fmt: skip
_PARTS = {"as_ints": int, "as_bools": bool, "as_strings": str}


def _plain(kind: str, value: Any) -> Any:
    """A value of Python."""
    if kind == "as_none":
        return None
    if kind == "as_float":
        return _float(value)
    if kind in _KINDS and isinstance(value, _KINDS[kind]):
        if kind == "as_floats":
            return [_float(v) for v in value]
        if kind in _PARTS and not all(type(v) is _PARTS[kind] for v in value):
            raise FormatError(f"a list of the kind {kind} holds something else")
        return value
    if kind == "as_scalar_type":
        return _dtype(value)
    for name, table in (("as_layout", LAYOUTS), ("as_memory_format", FORMATS)):
        if kind == name and value in table:
            return table[value]
    if kind == "as_device":
        return taeda.device(str(value["type"]), value["index"])
    if kind == "as_complex":
        return complex(_float(value["real"]), _float(value["imag"]))
    raise FormatError(f"an argument of the kind {kind!r:.60} is not read")


def _float(value: Any) -> float:
    if value in ("Infinity", "-Infinity", "NaN") or type(value) in (int, float):
        return float(value)
    raise FormatError(f"{value!r:.60} is no float")


def _argument_spec(entry: Any) -> TensorArgument | ConstantArgument:
    ((kind, value),) = _union(entry)
    if kind == "as_tensor":
        return TensorArgument(_name(value["name"]))
    made = _plain(kind, value)
    if not isinstance(made, (int, float, str, type(None))):
        raise FormatError(f"a result of the kind {kind!r:.60} is not read")
    return ConstantArgument("", made)


def _input_spec(kind: str, value: Any) -> InputSpec:
    if kind == "user_input":
        return InputSpec(InputKind.USER_INPUT, _argument_spec(value["arg"]), None)
    if kind == "constant_input":
        ((which, content),) = _union(value["value"])
        argument = ConstantArgument(_name(value["name"]), _plain(which, content))
        return InputSpec(InputKind.USER_INPUT, argument, None)
    if kind not in ("parameter", "buffer", "tensor_constant"):
        raise FormatError(f"an input of the program is a {kind!r:.60}, which is not read")
    arg, target = TensorArgument(_name(value["arg"]["name"])), str(value[f"{kind}_name"])
    if kind == "parameter":
        return InputSpec(InputKind.PARAMETER, arg, target)
    if kind == "buffer":
        return InputSpec(InputKind.BUFFER, arg, target, bool(value["persistent"]))
    return InputSpec(InputKind.CONSTANT_TENSOR, arg, target)
