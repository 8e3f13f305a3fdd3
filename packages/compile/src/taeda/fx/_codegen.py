"""Python text from a graph: one line a node, values dropped after their last use."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import taeda
from taeda._core_api.names import shown_name

from ._names import Namespace, qualified_name, resolve
from .node import Node

if TYPE_CHECKING:
    from .graph import Graph

__all__ = ["CodeGen", "PythonCode", "TransformBody", "generate"]

TransformBody = Callable[[list[str]], list[str]]


@dataclass
class PythonCode:
    """Text of a function, and the objects behind the global names in it.

    >>> from taeda.fx import symbolic_trace
    >>> code = symbolic_trace(lambda x: x + 1).graph.python_code("self")
    >>> print(code.src.strip())
    def forward(self, x):
        add = x + 1;  x = None
        return add
    """

    src: str
    globals: dict[str, Any] = field(default_factory=dict)


class CodeGen:
    """How the function of a graph is called: its first line, what it returns, and what lies between
    the caller's arguments and the placeholders. `Graph.set_codegen` gives a graph one.

    The default takes one argument for each placeholder. A subclass changes what it overrides; a
    graph is copied and pickled with it, so that its class must be found again by name.

    >>> from taeda.fx import symbolic_trace
    >>> class OneList(CodeGen):
    ...     def gen_fn_def(self, free_vars, maybe_return_annotation):
    ...         unpacked = ", ".join(free_vars)
    ...         return f"def forward(self, values){maybe_return_annotation}:\\n    {unpacked}, = values"
    ...     def process_inputs(self, *inputs):
    ...         return inputs[0]
    >>> gm = symbolic_trace(lambda x, y: x - y)
    >>> gm.graph.set_codegen(OneList())
    >>> _ = gm.recompile()
    >>> gm([3, 2])
    1
    """

    root = "self"  # what the module is called in the text

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The line with `def`, and lines (indented by four) that make `free_vars` of the arguments.

        `free_vars` are the parameters as they are declared: `x`, `x : taeda.Tensor`, `n = 1`.
        """
        return f"def forward({', '.join([self.root, *free_vars])}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any) -> str:
        """The line that returns; nodes in `output_args` print as their names."""
        return f"return {output_args!r}"

    def process_inputs(self, *args: Any) -> Any:
        """The values of the placeholders for these arguments of a call."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What a call gives where the graph gives `outputs`."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names that the lines of this object need, with what they stand for."""
        return []


_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
    "lt": "<", "le": "<=", "eq": "==", "ne": "!=", "gt": ">", "ge": ">=",
}  # fmt: skip
_UNARY = {"neg": "-", "pos": "+", "invert": "~"}
_FORMS: dict[Any, str] = {
    **{getattr(operator, name): f"{{}} {sign} {{}}" for name, sign in _BINARY.items()},
    **{getattr(operator, name): f"{sign}{{}}" for name, sign in _UNARY.items()},
    operator.getitem: "{}[{}]",
}


def generate(
    graph: Graph,
    root: str,
    verbose: bool = False,
    transform: TransformBody | None = None,
    form: CodeGen | None = None,
    lasting: bool = False,
) -> PythonCode:
    """The function `forward` that computes what the graph says. `lasting` text says taeda in every
    process; else it says torch where `install_as_torch` was called.
    """
    form = copy.copy(form) if form is not None else CodeGen()
    form.root = root
    writer = _Writer(graph, root, verbose, form, lasting)
    lines = writer.body()
    if transform is not None:
        lines = transform(lines)
    text = "".join(line if line.endswith("\n") else line + "\n" for line in lines)
    indented = "".join(f"    {line}\n" if line else "\n" for line in text.splitlines())
    head = form.gen_fn_def(list(writer.parameters), "").strip("\n")
    return PythonCode(f"\n{head}\n{indented or '    pass' + chr(10)}", writer.globals)


class _Writer:
    """One function under way: its parameters, the globals it names."""

    def __init__(
        self, graph: Graph, root: str, verbose: bool, form: CodeGen, lasting: bool
    ) -> None:
        self.graph, self.root, self.verbose, self.form = graph, root, verbose, form
        self.said = str if lasting else shown_name
        self.parameters: list[str] = []
        self.globals: dict[str, Any] = {
            "taeda": taeda,
            self.said("taeda"): taeda,
            "device": taeda.device,
            "inf": math.inf,
            "nan": math.nan,
            **dict(form.additional_globals()),
        }
        self.names: Namespace = graph._names.copy()

    def body(self) -> list[str]:
        last = _last_uses(self.graph)
        lines: list[str] = []
        for node in self.graph.nodes:
            if self.verbose and node.stack_trace:
                lines.append(f"# {node.stack_trace.strip().splitlines()[0].strip()}")
            line = self.line(node)
            if line is None:
                continue
            dropped = [n.name for n in last.get(node, ())]
            if not node.users and node.op not in ("output", "placeholder"):
                dropped.append(node.name)
            if dropped and node.op != "output":
                line += ";  " + " = ".join([*dropped, "None"])
            lines.append(line)
        return lines

    def line(self, node: Node) -> str | None:
        if node.op == "placeholder":
            return self.parameter(node)
        if node.op == "output":
            return self.result(node.args[0] if node.args else None)
        kind = f" : {self.annotation(node.type)}" if node.type is not None else ""
        return f"{node.name}{kind} = {self.expression(node)}"

    def result(self, value: Any) -> str:
        if type(self.form).generate_output is CodeGen.generate_output:
            return f"return {self.value(value)}"
        return self.form.generate_output(value)

    def parameter(self, node: Node) -> str | None:
        name = str(node.target)
        bare = name.lstrip("*")
        kind = f" : {self.annotation(node.type)}" if node.type is not None else ""
        default = f" = {self.value(node.args[0])}" if node.args else ""
        if not default and not name.startswith("*") and self._needs_star():
            self.parameters.append("*")
        self.parameters.append(f"{name}{kind}{default}")
        return f"{node.name} = {bare}" if bare != node.name else None

    def _needs_star(self) -> bool:
        """Whether one without a default may only follow as a keyword."""
        starred = any(p.startswith("*") for p in self.parameters)
        return not starred and any(" = " in p for p in self.parameters)

    def expression(self, node: Node) -> str:
        if node.op == "get_attr":
            return _path(self.root, str(node.target))
        if node.op == "call_module":
            return f"{_path(self.root, str(node.target))}({self.arguments(node.args, node.kwargs)})"
        if node.op == "call_method":
            itself, rest = self.receiver(node.args[0]), node.args[1:]
            return f"{itself}.{node.target}({self.arguments(rest, node.kwargs)})"
        return self.call(node)

    def call(self, node: Node) -> str:
        target: Any = node.target
        form = _FORMS.get(target)
        if form is not None and not node.kwargs and form.count("{}") == len(node.args):
            key = [self.value(a) for a in node.args[1:]] if target is operator.getitem else None
            rest = key if key is not None else [self.operand(a) for a in node.args[1:]]
            first = self.receiver if target is operator.getitem else self.operand
            return form.format(first(node.args[0]), *rest)
        if (
            target is getattr
            and not node.kwargs
            and len(node.args) == 2
            and isinstance(node.args[1], str)
            and node.args[1].isidentifier()
        ):
            return f"{self.receiver(node.args[0])}.{node.args[1]}"
        return f"{self.function(target)}({self.arguments(node.args, node.kwargs)})"

    def arguments(self, args: Any, kwargs: dict[str, Any]) -> str:
        named = all(key.isidentifier() for key in kwargs)
        words = [f"{key} = {self.value(entry)}" for key, entry in kwargs.items()] if named else []
        if not named:
            words = [f"**{self.value(dict(kwargs))}"]
        return ", ".join([*map(self.value, args), *words])

    def function(self, target: Any) -> str:
        """The text that stands for a function: its dotted name if it is ours, else a global of its own."""
        name = qualified_name(target)
        if name is not None and name.startswith("taeda.") and resolve(name) is target:
            return self.said(name)
        if name is not None and "." not in name:
            return name  # Python's own
        return self.named(
            target, str(name or getattr(target, "__name__", "function")).replace(".", "_")
        )

    def named(self, value: Any, wanted: str) -> str:
        for name, known in self.globals.items():
            if known is value:
                return name
        name = self.names.create_name(f"_{wanted}".replace("__", "_"))
        self.globals[name] = value
        return name

    def annotation(self, kind: Any) -> str:
        if isinstance(kind, str):
            return repr(kind)
        if isinstance(kind, type) and kind.__module__ == "builtins" and "[" not in repr(kind):
            return kind.__name__
        if kind is taeda.Tensor:
            return self.said("taeda.Tensor")
        return self.named(kind, "type")

    # ---- values ----

    def operand(self, value: Any) -> str:
        """A value beside an operator: negative numbers and the like in brackets."""
        text = self.value(value)
        if text.replace(".", "", 1).isdigit():
            return text
        return self.receiver(value)

    def receiver(self, value: Any) -> str:
        """A value before a dot or an index: all but names and strings in brackets."""
        text = self.value(value)
        return text if isinstance(value, (Node, str)) or text.isidentifier() else f"({text})"

    def value(self, value: Any) -> str:
        if isinstance(value, Node):
            return value.name
        if isinstance(value, tuple):
            return self.tuple(value)
        if isinstance(value, list):
            return "[" + ", ".join(map(self.value, value)) + "]"
        if isinstance(value, dict):
            pairs = (f"{self.value(k)}: {self.value(v)}" for k, v in value.items())
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, slice):
            return f"slice({', '.join(map(self.value, (value.start, value.stop, value.step)))})"
        return self.literal(value)

    def tuple(self, value: Any) -> str:
        inner = ", ".join(map(self.value, value))
        if hasattr(value, "_fields"):
            return f"{self.named(type(value), type(value).__name__)}({inner})"
        return f"({inner},)" if len(value) == 1 else f"({inner})"

    def literal(self, value: Any) -> str:
        if value is None or value is Ellipsis or type(value) in (bool, int, str, bytes, range):
            return repr(value)
        if type(value) is float:
            return repr(value) if math.isfinite(value) else f"float('{value}')"
        if type(value) is complex and math.isfinite(value.real) and math.isfinite(value.imag):
            return f"complex({value.real!r}, {value.imag!r})"
        if isinstance(value, taeda.device):
            return repr(value)
        if isinstance(value, (taeda.dtype, taeda.layout, taeda.memory_format)):
            return self.said(f"taeda.{str(value).rpartition('.')[2]}")
        if callable(value):
            return self.function(value)
        return self.named(value, f"{type(value).__name__}_value")


def _path(root: str, path: str) -> str:
    """`self.stem.0.weight` as Python writes it: `getattr(self.stem, "0").weight`."""
    text = root
    for part in path.split("."):
        text = f"{text}.{part}" if part.isidentifier() else f'getattr({text}, "{part}")'
    return text


def _last_uses(graph: Graph) -> dict[Node, list[Node]]:
    """By node, the values that nobody needs after it."""
    found: dict[Node, list[Node]] = {}
    seen: set[Node] = set()
    for node in reversed(graph.nodes):
        for used in node.all_input_nodes:
            if used not in seen:
                seen.add(used)
                found.setdefault(node, []).append(used)
    return found
