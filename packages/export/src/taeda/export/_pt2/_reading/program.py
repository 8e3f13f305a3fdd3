"""A program of the format: its graph, its tensors, its signature."""

from __future__ import annotations

import json
import math
import operator
import re
from dataclasses import replace
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api.files import FormatError
from taeda.fx.experimental._ranges import ValueRanges
from taeda.fx.graph_module import GraphModule
from taeda.fx.node import Node

from ..._outputs import argument_of
from ...exported_program import ExportedProgram
from ...graph_signature import (
    ArgumentSpec,
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from .._calls import check_arguments, kept_calls
from .._conditions import condition_of
from .._trees import spec_of
from .archive import Archive
from .graph import GraphReader, describe
from .signature import argument_spec, check_version, input_spec, new_value
from .values import dtype_of, integers_of, name_of, union_of

__all__ = ["ProgramReader", "program_of"]

MOST_CONDITIONS = 1000


def program_of(archive: Archive) -> ExportedProgram:
    """The program of an archive. FormatError says what is wrong with it."""
    try:
        program = ProgramReader(archive).program()
        program.module()  # names of tensors that no module can have
        return program
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError,
            OverflowError) as error:  # fmt: skip
        said = f"{type(error).__name__}: {error}"
        raise FormatError(f"the program in the file is malformed ({said:.200})") from error


class ProgramReader(GraphReader):
    """One program on its way from JSON."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        document = archive.document("models/model.json")
        check_version(document)
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
            self._check_result(spec, node)
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

    def _check_result(self, spec: OutputSpec, value: Any) -> None:
        """FormatError where the graph gives another value than the signature says, or another kind."""
        if isinstance(spec.arg, ConstantArgument) and not isinstance(value, Node):
            return
        named = self._known(spec.arg.name)
        if named is not value or type(argument_of(value)) is not type(spec.arg):
            raise FormatError(f"the result {spec.arg.name!r:.80} is another one in the graph")

    def _conditions(self, signature: ExportGraphSignature) -> list[Any]:
        """What must hold between the sizes of the arguments."""
        given = self.document.get("guards_code") or []
        if not isinstance(given, list) or len(given) > MOST_CONDITIONS:
            raise FormatError(
                f"the conditions of a program are a list of {MOST_CONDITIONS} at most"
            )
        names = [n for n in signature.user_inputs if isinstance(n, str) and n in self.nodes]
        sizes = {n: self.nodes[n].meta["shape"] for n in names if "shape" in self.nodes[n].meta}
        return [condition_of(text, sizes) for text in given]

    def _leaf(self, entry: Any) -> ArgumentSpec:
        """A leaf of the arguments or results of a call inside, by the name of its node."""
        made = argument_spec(entry)
        if not isinstance(made, ConstantArgument):
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
        dtype = dtype_of(meta["dtype"])
        if meta["layout"] != 7:
            raise FormatError(f"{path}: only strided tensors are read")
        sizes, strides = (integers_of(meta[key]) for key in ("sizes", "strides"))
        offset = integers_of([meta["storage_offset"]])[0]
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
            ((kind, value),) = union_of(entry)
            made.input_specs.append(input_spec(kind, value))
        for entry in described["output_specs"]:
            ((kind, value),) = union_of(entry)
            if kind == "user_output":
                spec = OutputSpec(OutputKind.USER_OUTPUT, argument_spec(value["arg"]))
            else:
                spec = new_value(kind, value, made)
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
            ((kind, value),) = union_of(entry)
            tensor = isinstance(spec.arg, TensorArgument)
            if tensor and (kind != "as_tensor" or value["name"] != name):
                raise FormatError(f"the input {name!r:.80} is another one in the signature")
            node = self._enter(name, self.graph.placeholder(name_of(name)))
            node.target = node.name  # a name of the file that is none of a variable is another one
            if tensor:
                describe(node, *self._described(name))
