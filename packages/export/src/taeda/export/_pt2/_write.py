"""An exported program as the records of an archive."""

from __future__ import annotations

import io
import json
import math
import operator
import zipfile
from collections.abc import Mapping
from typing import Any

import taeda
from taeda import Tensor
from taeda.compiler._errors import UserError
from taeda.fx.experimental._expressions import Expression, constant
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from .._functions import NAMES, calls_functions
from .._shapes import told_by_arguments
from ..exported_program import ExportedProgram
from ..graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from ._formulas import ANSWERS, float_text, side_of, text_of
from ._kinds import DTYPES, FORMATS, LAYOUTS, NUMBER_ARGUMENTS, NUMBERS, SCHEMA, WRITTEN, name_of
from ._operators import ASSERTIONS, FUNCTIONS, arguments_of, item
from ._public_rows import with_public_rows
from ._recurrent import with_public_layers
from ._stacks import text_of_stack
from ._trees import text_of_spec

__all__ = ["archive_of"]

_LONGEST_FLOAT = 100_000  # letters of its text
_TYPES = {dtype: number for number, dtype in DTYPES.items()}
_NUMBERS = {function: name for name, function in NUMBERS.items()}
_NAMED = {function: name for name, function in FUNCTIONS.items()}
_MEMORY = {entry: number for number, entry in FORMATS.items()}
_LAYOUT = {entry: number for number, entry in LAYOUTS.items()}


def archive_of(ep: ExportedProgram, extra: Mapping[str, Any]) -> bytes:
    """The bytes of a file that holds the program. NotImplementedError for what no file holds yet."""
    if ep._guards:
        said = ", ".join(map(str, ep._guards))
        raise NotImplementedError(
            f"save: the program holds only where {said}, and a file has no place for that yet: "
            "export it with Dims that say so"
        )
    records: dict[str, bytes] = {}
    weights = ep.state_dict
    records |= _tensors("data/weights/", "weight", "model_weights_config", weights, ep)
    constants = _tensors("data/constants/", "tensor", "model_constants_config", ep.constants, ep)
    records |= constants
    records["models/model.json"] = json.dumps(_Program(ep).document(), allow_nan=False).encode()
    records["data/sample_inputs/model.pt"] = b""
    for name, content in extra.items():
        records[f"extra/{name}"] = content.encode() if isinstance(content, str) else bytes(content)
    records |= {"archive_format": b"pt2", "archive_version": b"0", "byteorder": b"little"}
    records[".data/version"] = b"6\n"
    return _zipped(records)


def _zipped(records: dict[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:  # half-written: it lies in memory, stored
        for name, content in records.items():
            archive.writestr(zipfile.ZipInfo(f"archive/{name}", (1980, 1, 1, 0, 0, 0)), content)
    return made.getvalue()


def _check_tensor(name: str, value: Any) -> None:
    if not isinstance(value, taeda.Tensor):
        raise TypeError(
            f"export.save: {name!r} of the state dict is no tensor but {type(value).__name__}, and a .pt2 "
            "file has no place for it: export a model whose state dict holds tensors alone"
        )


def _tensors(
    folder: str, prefix: str, config: str, tensors: Mapping[str, Tensor], ep: ExportedProgram
) -> dict[str, bytes]:
    records: dict[str, bytes] = {}
    entries: dict[str, Any] = {}
    places: dict[Any, str] = {}
    parameters = set(ep.graph_signature.parameters)
    for name, tensor in tensors.items():
        _check_tensor(name, tensor)
        key = (tensor.data_ptr(), tuple(tensor.shape), tuple(tensor.stride()), tensor.dtype)
        shared = tensor.numel() > 0 and key in places
        path = places[key] if shared else f"{prefix}_{len(records)}"
        places[key] = path
        if not shared:
            flat = tensor.detach().cpu().contiguous().reshape(-1)
            records[folder + path] = flat.view(taeda.uint8).numpy().tobytes()
        entries[name] = {
            "path_name": path,
            "is_param": isinstance(tensor, taeda.nn.Parameter) or name in parameters,
            "use_pickle": False,
            "tensor_meta": _meta(tensor, tuple(map(constant, tensor.shape)), None, {}),
        }
    records[f"{folder}{config}.json"] = json.dumps({"config": entries}).encode()
    return records


def _meta(tensor: Tensor, shape: Any, stride: Any, hints: Mapping[str, Any]) -> dict[str, Any]:
    if tensor.dtype not in _TYPES:
        raise NotImplementedError(f"save: tensors of {tensor.dtype} have no place in a file yet")
    if stride is None:
        stride, step = [], constant(1)
        for size in reversed(shape):
            stride.insert(0, step)
            step = step * size
    return {
        "dtype": _TYPES[tensor.dtype],
        "sizes": [_size(e, hints) for e in shape],
        "requires_grad": bool(tensor.requires_grad),
        "device": {"type": "cpu", "index": None},
        "strides": [_size(e, hints) for e in stride],
        "storage_offset": {"as_int": 0},
        "layout": 7,
    }


def _size(expr: Expression, hints: Mapping[str, Any]) -> dict[str, Any]:
    if expr.number is not None:
        return {"as_int": expr.number}
    known = all(hints[name] is not None for name in expr.symbols())
    hint = {"as_int": expr.value(hints)} if known else None
    return {"as_expr": {"expr_str": text_of(expr), "hint": hint}}


class _Program:
    """The JSON of one program."""

    def __init__(self, ep: ExportedProgram, whole: GraphModule | None = None) -> None:
        self.ep = ep
        if whole is None:
            whole = with_public_rows(with_public_layers(ep.graph_module))
        self.whole = whole
        told = told_by_arguments(self.whole)  # other symbols have no number until the program runs
        self.hints = {n: _hint(r) if n in told else None for n, r in ep.range_constraints.items()}
        self.tensors: dict[str, Any] = {}
        self.numbers: dict[str, Any] = {}
        self.answers: dict[str, Any] = {}
        self.floats: dict[str, Any] = {}
        self.is_number: dict[Node, str] = {}  # nodes that give numbers, and the kind of these
        self.module = self.whole

    def document(self) -> dict[str, Any]:
        graph = self.graph_of(self.whole)
        return {
            "graph_module": {
                "graph": graph,
                "signature": self._signature(),
                "module_call_graph": self._calls(),
                "metadata": {},
                "treespec_namedtuple_fields": {},
            },
            "opset_version": {"aten": 10},
            "range_constraints": {
                name: {
                    "min_val": None if r.lower == -math.inf else int(r.lower),
                    "max_val": None if r.upper == math.inf else int(r.upper),
                }
                for name, r in self.ep.range_constraints.items()
            },
            "schema_version": {"major": SCHEMA[0], "minor": SCHEMA[1]},
            "verifiers": ["TRAINING"],
            "torch_version": f"taeda {taeda.__version__}",
            "guards_code": [],
        }

    def _calls(self) -> list[dict[str, Any]]:
        """How the program is called, and modules inside whose calls are kept."""
        ep = self.ep
        made = [{"fqn": "", "signature": self._call([], [], ep._in_spec, ep._out_spec)}]
        for entry in ep._module_calls:
            call = entry.signature
            assert call is not None
            known = self._call(call.inputs, call.outputs, call.in_spec, call.out_spec)
            made.append({"fqn": entry.fqn, "signature": known})
        return made

    def _call(self, inputs: Any, outputs: Any, in_spec: Any, out_spec: Any) -> dict[str, Any]:
        return {
            "inputs": [self._plain_argument(arg) for arg in inputs],
            "outputs": [self._plain_argument(arg) for arg in outputs],
            "in_spec": text_of_spec(in_spec),
            "out_spec": text_of_spec(out_spec),
            "forward_arg_names": None,
        }

    def _signature(self) -> dict[str, Any]:
        specs = self.ep.graph_signature
        return {
            "input_specs": [_input_spec(s) for s in specs.input_specs],
            "output_specs": [self._output_spec(s) for s in specs.output_specs],
        }

    def _output_spec(self, spec: Any) -> dict[str, Any]:
        if spec.kind is OutputKind.USER_OUTPUT:
            return {"user_output": {"arg": self._plain_argument(spec.arg)}}
        if spec.kind not in WRITTEN:
            raise NotImplementedError(
                f"save: {spec.arg.name} is a {spec.kind.name}, which has no place in a file yet"
            )
        kind, target = WRITTEN[spec.kind]
        return {kind: {"arg": {"name": spec.arg.name}, target: spec.target}}

    def _plain_argument(self, arg: Any) -> dict[str, Any]:
        if isinstance(arg, TensorArgument):
            return {"as_tensor": {"name": arg.name}}
        if type(arg) in NUMBER_ARGUMENTS:
            return {NUMBER_ARGUMENTS[type(arg)]: {"as_name": arg.name}}
        if not isinstance(arg, ConstantArgument):
            raise NotImplementedError(
                f"save: {arg.name} is a {type(arg).__name__}, which has no place in a file yet"
            )
        return _constant(arg.value)

    def graph_of(self, gm: GraphModule, *, single: bool = False) -> dict[str, Any]:
        """The program's graph, or one of a function in it, which gives a tensor if `single`."""
        self.module = gm
        inputs, nodes, outputs = [], [], []
        constants = {
            s.arg.name: s.arg.value
            for s in self.ep.graph_signature.input_specs
            if isinstance(s.arg, ConstantArgument)
        }
        for node in gm.graph.nodes:
            if node.op == "placeholder":
                if gm is self.whole and node.name in constants:
                    inputs.append(_constant(constants[node.name]))
                else:
                    inputs.append({"as_tensor": {"name": node.name}})
                    self._note(node.name, node.meta["val"], node)
            elif node.op == "output":
                outputs = [self._argument(v, "") for v in node.args[0]]
            elif node.target is not operator.getitem and node.op != "get_attr":
                nodes.append(self._node(node))
        return {
            "inputs": inputs,
            "outputs": outputs,
            "nodes": nodes,
            "tensor_values": self.tensors,
            "sym_int_values": self.numbers,
            "sym_bool_values": self.answers,
            "is_single_tensor_return": single,
            "custom_obj_values": {},
            "sym_float_values": self.floats,
        }

    def _note(self, name: str, value: Tensor, node: Node, part: int | None = None) -> None:
        shape, stride = node.meta["shape"], node.meta.get("stride")
        if part is not None:
            shape, stride = shape[part], node.meta["stride"][part]
        self._check_explained(name, shape)
        self.tensors[name] = _meta(value, shape, stride, self.hints)

    def _check_explained(self, name: str, sizes: Any) -> None:
        """UserError for a size that the file cannot say: no formula of the inputs' sizes explains it."""
        gaps = [str(e) for e in sizes if not set(e.symbols()) <= set(self.hints)]
        if gaps:
            raise UserError(
                f"save: no formula of the inputs' sizes explains a size of {name} ({', '.join(gaps)}), "
                "and the file wants one. Write the program so that its sizes are sums, products and "
                "quotients, or export it with that Dim fixed"
            )

    def _node(self, node: Node) -> dict[str, Any]:
        name, inputs = self._target(node)
        return {
            "target": name,
            "inputs": inputs,
            "outputs": self._outputs(node),
            "metadata": self._metadata(node),
            "is_hop_single_tensor_return": None,
            "name": node.name,
        }

    def _metadata(self, node: Node) -> dict[str, str]:
        """Which calls of modules the node ran in."""
        stack = node.meta.get("nn_module_stack")
        return {} if stack is None else {"nn_module_stack": text_of_stack(stack, "Module")}

    def _target(self, node: Node) -> tuple[str, list[dict[str, Any]]]:
        target: Any = node.target
        if target is taeda.ops.aten.sym_size.int:
            pairs = zip(("self", "dim"), node.args, strict=True)
            return "torch.ops.aten.sym_size.int", [self._named(n, v, 1, "") for n, v in pairs]
        if calls_functions(node):
            return f"torch.ops.higher_order.{NAMES[target]}", [
                self._to_function(v) for v in node.args
            ]
        if target in _NUMBERS:
            letters = zip("abc", node.args, strict=False)
            return _NUMBERS[target], [self._named(n, v, 1, "") for n, v in letters]
        if target in _NAMED:
            given = zip(arguments_of(target), node.args, strict=False)
            inputs = [self._named(n, v, 1, "") for n, v in given]
            inputs += [self._named(n, v, 2, "") for n, v in node.kwargs.items()]
            return _NAMED[target], inputs
        schema = getattr(target, "_schema", None)
        if schema is None:
            raise NotImplementedError(
                f"save: {node.name} calls {target}, which has no place in a file yet"
            )
        inputs = [
            self._named(a.name, v, 1, str(a.type))
            for a, v in zip(schema.arguments, node.args, strict=False)
        ]
        kinds = {a.name: str(a.type) for a in schema.arguments}
        inputs += [self._named(n, v, 2, kinds[n]) for n, v in node.kwargs.items()]
        return name_of(target, [self._is_tensor(v) for v in node.args]), inputs

    def _is_tensor(self, value: Any) -> bool:
        return isinstance(value, Node) and value not in self.is_number

    def _to_function(self, value: Any) -> dict[str, Any]:
        """An argument of a node that calls functions: they have no names there."""
        if isinstance(value, Node) and value.op == "get_attr":
            name = str(value.target)
            single = name.startswith("while_cond_graph")
            inner = _Program(self.ep, self.whole).graph_of(
                getattr(self.module, name), single=single
            )
            return {"name": "", "arg": {"as_graph": {"name": name, "graph": inner}}, "kind": 1}
        if isinstance(value, tuple | list):
            return {"name": "", "arg": self._list(list(value), "Tensor[]"), "kind": 1}
        return self._named("", value, 1, "")

    def _named(self, name: str, value: Any, kind: int, declared: str) -> dict[str, Any]:
        return {"name": name, "arg": self._argument(value, declared), "kind": kind}

    def _argument(self, value: Any, declared: str) -> dict[str, Any]:
        if isinstance(value, Node):
            if value in self.is_number:
                return {self.is_number[value]: {"as_name": value.name}}
            return {"as_tensor": {"name": value.name}}
        if isinstance(value, tuple | list):
            return self._list(list(value), declared)
        return _constant(value)

    def _list(self, values: list[Any], declared: str) -> dict[str, Any]:
        if "Tensor?" in declared:
            some = [{"as_tensor": {"name": v.name}} if v else {"as_none": True} for v in values]
            return {"as_optional_tensors": some}
        if "Tensor" in declared:
            return {"as_tensors": [{"name": v.name} for v in values]}
        if values and all(isinstance(v, Node) and v not in self.is_number for v in values):
            return {"as_tensors": [{"name": v.name} for v in values]}
        if any(isinstance(v, Node) for v in values):
            several = [
                {"as_name": v.name} if isinstance(v, Node) else {"as_int": v} for v in values
            ]
            return {"as_sym_ints": several}
        if values and all(type(v) is bool for v in values):
            return {"as_bools": values}
        if values and any(type(v) is float for v in values):
            return {"as_floats": [_float(float(v)) for v in values]}
        if not all(type(v) is int for v in values):
            raise NotImplementedError(f"save: {values!r:.80} has no place in a file yet")
        return {"as_ints": values}

    def _outputs(self, node: Node) -> list[dict[str, Any]]:
        value = node.meta.get("val")
        if isinstance(value, Tensor):
            self._note(node.name, value, node)
            return [{"as_tensor": {"name": node.name}}]
        if node.target in ASSERTIONS:
            return []
        if type(value) is bool:
            self.is_number[node] = "as_sym_bool"
            self.answers[node.name] = {"as_expr": {"expr_str": self._answer(node), "hint": None}}
            return [{"as_sym_bool": {"as_name": node.name}}]
        if type(value) is int:
            self.is_number[node] = "as_sym_int"
            self._check_explained(node.name, [node.meta["shape"]])
            self.numbers[node.name] = _size(node.meta["shape"], self.hints)
            return [{"as_sym_int": {"as_name": node.name}}]
        if type(value) is float:
            self.is_number[node] = "as_sym_float"
            self.floats[node.name] = {"as_expr": {"expr_str": self._float(node), "hint": None}}
            return [{"as_sym_float": {"as_name": node.name}}]
        if not isinstance(value, tuple | list):
            raise NotImplementedError(
                f"save: {node.name} gives a {type(value).__name__}, which has no place in a file yet"
            )
        parts = {int(u.args[1]): u.name for u in node.users}
        made = []
        for k, entry in enumerate(value):
            name = parts.get(k, f"{node.name}_unused_{k}")
            self._note(name, entry, node, k)
            made.append({"name": name})
        if calls_functions(node):
            return [{"as_tensor": entry} for entry in made]
        schema = getattr(node.target, "_schema", None)  # a function gives a tuple
        if schema is not None and len(schema.returns) == 1:
            return [{"as_tensors": made}]
        return [{"as_tensor": entry} for entry in made]

    def _answer(self, node: Node) -> str:
        """The text of a comparison of sizes."""
        name = ANSWERS.get(node.target)
        if name is None:
            raise NotImplementedError(
                f"save: {node.name} is an answer by {node.target}, which has no place in a file yet"
            )
        return f"{name}({', '.join(map(self._side, node.args))})"

    def _float(self, node: Node) -> str:
        """The text of a float that follows from sizes and from what data decide."""
        if "decided" in node.meta:
            return f"Symbol('{node.meta['decided'][0]}')"
        text, parts = None, [self._side(v) for v in node.args if node.target is not item]
        if parts and sum(map(len, parts)) < _LONGEST_FLOAT:
            text = float_text(node.target, parts)
        if text is None:
            raise NotImplementedError(
                f"save: {node.name} is a float by {node.target}, which has no place in a file yet"
            )
        return text

    def _side(self, value: Any) -> str:
        """The text of a number, or of a node that gives one."""
        if isinstance(value, float):
            return f"Float('{value!r}', precision=53)"
        if not isinstance(value, Node):
            return side_of(constant(value))
        kind = self.is_number.get(value)
        if kind in ("as_sym_float", "as_sym_bool"):
            known = self.floats if kind == "as_sym_float" else self.answers
            text: str = known[value.name]["as_expr"]["expr_str"]
            return text
        return side_of(value.meta["shape"])


def _hint(limits: Any) -> int | None:
    return int(min(max(limits.lower, 4), limits.upper))


def _float(value: float) -> Any:
    if math.isnan(value):
        return "NaN"
    return value if math.isfinite(value) else ("Infinity" if value > 0 else "-Infinity")


def _constant(value: Any) -> dict[str, Any]:
    if value is None:
        return {"as_none": True}
    for kind, name in ((bool, "as_bool"), (int, "as_int"), (str, "as_string")):
        if type(value) is kind:
            return {name: value}
    if type(value) is float:
        return {"as_float": _float(value)}
    if type(value) is complex:
        return {"as_complex": {"real": _float(value.real), "imag": _float(value.imag)}}
    if isinstance(value, taeda.device):
        return {"as_device": {"type": value.type, "index": value.index}}
    for table, name in (
        (_TYPES, "as_scalar_type"), (_LAYOUT, "as_layout"), (_MEMORY, "as_memory_format"),
    ):  # fmt: skip
        if value in table:
            return {name: table[value]}
    raise NotImplementedError(f"save: {value!r:.80} has no place in a file yet")


def _input_spec(spec: Any) -> dict[str, Any]:
    if spec.kind is InputKind.USER_INPUT and not isinstance(spec.arg, TensorArgument):
        return {"constant_input": {"name": spec.arg.name, "value": _constant(spec.arg.value)}}
    name = {"name": spec.arg.name}
    if spec.kind is InputKind.PARAMETER:
        return {"parameter": {"arg": name, "parameter_name": spec.target}}
    if spec.kind is InputKind.BUFFER:
        kept = {"persistent": bool(spec.persistent)}
        return {"buffer": {"arg": name, "buffer_name": spec.target, **kept}}
    if spec.kind is InputKind.CONSTANT_TENSOR:
        return {"tensor_constant": {"arg": name, "tensor_constant_name": spec.target}}
    return {"user_input": {"arg": {"as_tensor": name}}}
