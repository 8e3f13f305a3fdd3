"""An exported program as modules again: a module for each that was called, with its part of the graph."""

from __future__ import annotations

import abc
import operator
from collections.abc import Iterator
from typing import Any

import taeda
from taeda import Tensor, nn
from taeda._core_api.trees import TreeSpec, tree_flatten, tree_unflatten
from taeda.fx.graph import Graph
from taeda.fx.interpreter import Interpreter
from taeda.fx.node import Node, map_arg

from ._checks import checked_leaves
from ._kept_modules import InterpreterModule, KeptCall, KeptCallModule
from ._program_module import results_of, tensor_of
from .exported_program import ExportedProgram
from .graph_signature import InputKind

__all__ = [
    "FlatArgsAdapter", "InterpreterModule", "InterpreterModuleDispatcher", "UnflattenedModule",
    "unflatten",
]  # fmt: skip


class FlatArgsAdapter(abc.ABC):
    """Makes arguments of one tree those of another, for programs that are called otherwise than they
    were exported.

    >>> from taeda.export import export
    >>> class FromDict(FlatArgsAdapter):
    ...     def adapt(self, target_spec, input_spec, input_args, metadata=None, obj=None):
    ...         return list(input_args)
    >>> ep = export(nn.ReLU(), (taeda.tensor([1.0]),))
    >>> unflatten(ep, FromDict())({"x": taeda.tensor([-1.0])})
    tensor([0.])
    """

    @abc.abstractmethod
    def adapt(
        self,
        target_spec: TreeSpec,
        input_spec: TreeSpec,
        input_args: list[Any],
        metadata: dict[str, Any] | None = None,
        obj: Any = None,
    ) -> list[Any]:
        """The leaves that the program wants, `target_spec` being their tree, from `input_args`, the
        leaves of `input_spec`. `obj` is the module that is called.
        """

    def get_flat_arg_paths(self) -> list[str]:
        """Where the leaves lie in the arguments, for adapters that say so; none otherwise."""
        return []


class InterpreterModuleDispatcher(nn.Module):
    """A module that was called several times: each call runs the next of `call_modules`, and the
    first again after the last. `attrs` are names of members of the first that are its own as well.

    >>> from taeda.export import export
    >>> layer = nn.Linear(3, 3)
    >>> ep = export(nn.Sequential(layer, nn.ReLU(), layer), (taeda.ones(4, 3),))
    >>> part = unflatten(ep).get_submodule("0")
    >>> type(part).__name__
    'InterpreterModuleDispatcher'
    """

    def __init__(self, attrs: set[str], call_modules: list[InterpreterModule]) -> None:
        super().__init__()
        if not call_modules:
            raise AssertionError("InterpreterModuleDispatcher: call_modules is empty")
        object.__setattr__(self, "_call_modules", list(call_modules))
        self._number = 0
        first = call_modules[0]
        for name in sorted(attrs):
            if name in first._buffers:
                kept = name not in first._non_persistent_buffers_set
                self.register_buffer(name, first._buffers[name], persistent=kept)
            else:
                setattr(self, name, getattr(first, name))

    def call_modules(self) -> list[InterpreterModule]:
        """The modules of the calls, in order."""
        return list(self._call_modules)

    def type_name(self) -> str | None:
        """The class of the module that it stands for."""
        return self._call_modules[0].type_name()

    def _apply(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        """As for each module; the calls have one set of tensors, which is converted once."""
        first, *others = self._call_modules
        first._apply(fn, *args, **kwargs)
        for module in (self, *others):
            for path, _ in list(module.named_parameters(remove_duplicate=False)):
                *folder, name = path.split(".")
                owner = module.get_submodule(".".join(folder))
                owner._parameters[name] = first.get_parameter(path)
            for path, _ in list(module.named_buffers(remove_duplicate=False)):
                *folder, name = path.split(".")
                owner = module.get_submodule(".".join(folder))
                owner._buffers[name] = first.get_buffer(path)
        return self

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module of this call gives."""
        made = self._call_modules[self._number](*args, **kwargs)
        self._number = (self._number + 1) % len(self._call_modules)
        return made


class UnflattenedModule(nn.Module):
    """What `unflatten` gives.

    Args:
        export_module: the program
        flat_args_adapter: makes arguments of another tree those of the program (default: None)

    >>> from taeda.export import export
    >>> made = unflatten(export(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), (taeda.ones(4, 3),)))
    >>> type(made).__name__, made(taeda.ones(4, 3)).shape
    ('UnflattenedModule', taeda.Size([4, 2]))
    """

    def __init__(
        self, export_module: ExportedProgram, flat_args_adapter: FlatArgsAdapter | None = None
    ) -> None:
        super().__init__()
        object.__setattr__(self, "_program", export_module)
        self.flat_args_adapter = flat_args_adapter
        _Builder(self, export_module).build()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The program's results. AssertionError for arguments for which the program is not right."""
        program: ExportedProgram = self._program
        leaves, spec = tree_flatten((args, kwargs))
        if self.flat_args_adapter is not None and spec != program._in_spec:
            leaves = self.flat_args_adapter.adapt(program._in_spec, spec, leaves, None, self)
            if len(leaves) != program._in_spec.num_leaves:
                raise TypeError(
                    f"the adapter gives {len(leaves)} leaves, and the program takes "
                    f"{program._in_spec.num_leaves}"
                )
            args, kwargs = tree_unflatten(leaves, program._in_spec)
        leaves = checked_leaves(program, args, kwargs)
        made = Interpreter(self, graph=self.graph).run(*leaves)
        rest = iter(leaves)
        flat = [
            next(rest) if s.kind is InputKind.USER_INPUT else tensor_of(self, str(s.target))
            for s in program.graph_signature.input_specs
        ]
        return results_of(self, program, flat, list(made))


def unflatten(
    module: ExportedProgram, flat_args_adapter: FlatArgsAdapter | None = None
) -> UnflattenedModule:
    """A module with the modules of the exported one, under their names, each with its part of the
    graph; parameters and buffers are copies. It is called as the exported module was, or, with a
    `flat_args_adapter`, otherwise. Modules inside take the tensors that their part reads, one by one:
    these need not be the arguments that they had. Those that `export` got as
    `preserve_module_call_signature` take the arguments that they had and give what they gave, so
    another module of the same kind of call may be put in their place.

    TypeError for what is no program; NotImplementedError for a program from a file that does not say
    which modules ran, and for a module with a kept call of which something else is read than results.

    Args:
        module: the program
        flat_args_adapter: makes arguments of another tree those of the program (default: None)

    >>> import taeda
    >>> from taeda.export import export
    >>> ep = export(nn.Sequential(nn.Linear(3, 2), nn.ReLU()), (taeda.ones(4, 3),))
    >>> [name for name, _ in unflatten(ep).named_children()]
    ['0', '1']
    """
    if not isinstance(module, ExportedProgram):
        raise TypeError(f"unflatten: module is an ExportedProgram, got {type(module).__name__}")
    return UnflattenedModule(module, flat_args_adapter)


_size: Any = operator.attrgetter("ops.aten.sym_size.int")(taeda)  # the checker knows no operators
#: names of the call, of the module, of its class, outermost first
Calls = list[tuple[str, str, str]]


class _Builder:
    """The modules of a program, from the calls that its nodes were in."""

    def __init__(self, root: UnflattenedModule, program: ExportedProgram) -> None:
        self.root, self.program = root, program
        specs = program.graph_signature.input_specs
        inputs = list(program.graph.find_nodes(op="placeholder"))
        self.targets = {
            node: str(spec.target)
            for node, spec in zip(inputs, specs, strict=True)
            if spec.kind is not InputKind.USER_INPUT
        }
        self.users = [n for n in inputs if n not in self.targets]
        self.output = program.graph.output_node()
        self.tensors = self._copies()
        self.made: dict[str, list[InterpreterModule]] = {}
        by_name = {n.name: n for n in program.graph.nodes}
        self.kept = {
            entry.fqn: KeptCall(entry.signature, by_name)
            for entry in program.module_call_graph[1:]
            if entry.signature is not None
        }
        self.named = {n for call in self.kept.values() for n in (*call.inputs, *call.outputs)}

    def _copies(self) -> dict[str, Any]:
        """Copies of the tensors by name; one that has two names is one copy."""
        program, known, made = self.program, {}, {}
        lost = set(program.graph_signature.non_persistent_buffers)
        for name in self.targets.values():
            constant = name in lost or name not in program.state_dict
            value = (program.constants if constant else program.state_dict)[name]
            if id(value) not in known:
                copy = value.detach().clone()
                if isinstance(value, nn.Parameter):
                    copy = nn.Parameter(copy, value.requires_grad)
                known[id(value)] = copy
            made[name] = known[id(value)]
        return made

    def build(self) -> None:
        nodes = [n for n in self.program.graph.nodes if n.op not in ("placeholder", "output")]
        if nodes and not any("nn_module_stack" in n.meta for n in nodes):
            raise NotImplementedError(
                "unflatten: the program does not say which modules ran (it is from a file that does not "
                "say): unflatten what export gives"
            )
        graph = Graph()
        env = {n: graph.placeholder(n.name) for n in self.users}
        made: dict[str, list[InterpreterModule]] = {}
        self._body(graph, env, nodes, 0, "", made)
        graph.output(map_arg(self.output.args[0], lambda n: self._value(graph, env, n, "")))
        self._check_calls()
        self.root.graph = graph
        _attach(self.root, made)
        self._state(self.root, "", set(self.targets.values()))

    def _body(
        self,
        graph: Graph,
        env: dict[Node, Node],
        nodes: list[Node],
        depth: int,
        prefix: str,
        made: dict[str, list[InterpreterModule]],
    ) -> None:
        for call, part in _runs(nodes, depth):
            if call is None:
                for node in part:
                    if node in env:  # a number that the call of a module got
                        continue
                    if node.op == "get_attr":  # a function that a branch or a loop calls
                        made[str(node.target)] = [
                            getattr(self.program.graph_module, str(node.target))
                        ]
                    env[node] = graph.node_copy(node, lambda n: self._value(graph, env, n, prefix))
                continue
            key, name, kind = call
            path = name[len(prefix) + 1 :] if prefix and name.startswith(f"{prefix}.") else name
            if key in self.kept:
                kept = self.kept[key]
                made.setdefault(path, []).append(self._kept(part, depth + 1, call))
                kept.called(graph, path, env, lambda n: self._value(graph, env, n, prefix))
                continue
            module, inputs, outputs = self._module(part, depth + 1, name, kind)
            made.setdefault(path, []).append(module)
            args = tuple(self._value(graph, env, n, prefix) for n in inputs)
            result = graph.call_module(path, args)
            for k, node in enumerate(outputs):
                env[node] = result if len(outputs) == 1 else graph.call_function(_item, (result, k))

    def _module(
        self, nodes: list[Node], depth: int, name: str, kind: str
    ) -> tuple[InterpreterModule, list[Node], list[Node]]:
        """The module of one call, what it reads from around and what is read of it."""
        inside = set(nodes)
        read = dict.fromkeys(n for node in nodes for n in self._read_by(node) if n not in inside)
        own = [n for n in read if self.targets.get(n, "").startswith(f"{name}.")]
        inputs = [n for n in read if n not in own]
        outputs = [n for n in nodes if n in self.named or any(u not in inside for u in n.users)]
        graph = Graph()
        env = {n: graph.placeholder(n.name) for n in inputs}
        made: dict[str, list[InterpreterModule]] = {}
        self._body(graph, env, nodes, depth, name, made)
        values = tuple(self._value(graph, env, n, name) for n in outputs)
        graph.output(values[0] if len(values) == 1 else values)
        module = InterpreterModule(graph, kind)
        _attach(module, made)
        self._state(module, name, {t for t in self.targets.values() if t.startswith(f"{name}.")})
        return module, inputs, outputs

    def _read_by(self, node: Node) -> list[Node]:
        """What a node reads, and what the kept calls get that it is in."""
        calls = [self.kept[key] for key, _, _ in _calls(node) if key in self.kept]
        return [*node.all_input_nodes, *(n for call in calls for n in call.inputs)]

    def _kept(self, nodes: list[Node], depth: int, call: tuple[str, str, str]) -> InterpreterModule:
        """The module of a call that takes the arguments that it had."""
        key, name, kind = call
        kept = self.kept[key]
        if kept.parts:
            raise NotImplementedError(
                f"unflatten: other operators ran in the midst of the call {key!r}: leave it out of "
                "preserve_module_call_signature"
            )
        kept.parts += 1
        graph = Graph()
        env = {n: graph.placeholder(n.name) for n in dict.fromkeys(kept.inputs)}
        made: dict[str, list[InterpreterModule]] = {}
        self._body(graph, env, nodes, depth, name, made)
        graph.output(tuple(self._value(graph, env, n, name) for n in kept.outputs))
        module = KeptCallModule(graph, kind, kept.signature)
        _attach(module, made)
        self._state(module, name, {t for t in self.targets.values() if t.startswith(f"{name}.")})
        return module

    def _check_calls(self) -> None:
        if gone := sorted(key for key, call in self.kept.items() if not call.parts):
            raise NotImplementedError(
                f"unflatten: no operator ran in the calls {gone}, so nothing would call these "
                "modules: leave them out of preserve_module_call_signature"
            )

    def _value(self, graph: Graph, env: dict[Node, Node], node: Node, prefix: str) -> Node:
        """The node there: a tensor of the state is an attribute, and formulas of sizes are computed
        where they are read.
        """
        if node in env:
            return env[node]
        if (name := self._own_name(node, prefix)) is not None:
            env[node] = graph.get_attr(name)
        elif (place := self._size_of_another(env, node, prefix)) is not None:
            env[node] = graph.call_function(_size, (env[place[0]], place[1]))
        elif node.op == "call_function" and type(node.meta.get("val")) in (int, float, bool):
            env[node] = graph.node_copy(node, lambda n: self._value(graph, env, n, prefix))
        else:
            raise NotImplementedError(
                f"unflatten: {node.name} is read on the other side of a module with a kept call"
                f"{f' ({prefix})' if prefix else ''}, and is no argument or result of it: leave the "
                "module out of preserve_module_call_signature"
            )
        return env[node]

    def _size_of_another(
        self, env: dict[Node, Node], node: Node, prefix: str
    ) -> tuple[Node, int] | None:
        """Where the size that a node asks is also, if the tensor is not at hand that it asks."""
        if node.target is not _size:
            return None
        asked: Any = node.args[0]
        if asked in env or self._own_name(asked, prefix) is not None:
            return None
        for other in env:
            sizes = list(other.meta["shape"]) if isinstance(other.meta.get("val"), Tensor) else []
            if node.meta["shape"] in sizes:
                return other, sizes.index(node.meta["shape"])
        return None

    def _own_name(self, node: Node, prefix: str) -> str | None:
        """The name below `prefix` of a tensor of the state, also where it is first another's."""
        name = self.targets.get(node)
        if name is None or not prefix or name.startswith(f"{prefix}."):
            return name and (name[len(prefix) + 1 :] if prefix else name)
        return None

    def _state(self, module: nn.Module, prefix: str, names: set[str]) -> None:
        """The tensors of `names` as members of a module and of those below it."""
        specs = {str(s.target): s for s in self.program.graph_signature.input_specs}
        for full in sorted(names):
            *path, last = (full[len(prefix) + 1 :] if prefix else full).split(".")
            for owner in _owners(module, path):
                value = self.tensors[full]
                if specs[full].kind is InputKind.PARAMETER:
                    owner.register_parameter(last, value)
                else:
                    owner.register_buffer(last, value, persistent=bool(specs[full].persistent))


def _item(parts: Any, k: int) -> Any:
    return parts[k]


def _runs(
    nodes: list[Node], depth: int
) -> Iterator[tuple[tuple[str, str, str] | None, list[Node]]]:
    """Nodes that follow each other in one call at this depth; None for those in no further call."""
    part: list[Node] = []
    before: tuple[str, str, str] | None = None
    for node in nodes:
        calls = _calls(node)
        call = calls[depth] if len(calls) > depth else None
        if part and call != before:
            yield before, part
            part = []
        part.append(node)
        before = call
    if part:
        yield before, part


def _calls(node: Node) -> Calls:
    stack = node.meta.get("nn_module_stack", {})
    return [(key, name, kind) for key, (name, kind) in stack.items()]


def _attach(owner: nn.Module, made: dict[str, list[InterpreterModule]]) -> None:
    """Modules of calls under their names; one that was called several times is a dispatcher."""
    for path, calls in made.items():
        *folders, last = path.split(".")
        place = _folder(owner, folders)
        members = {n for m in calls[:1] for n in (*m._parameters, *m._buffers, *m._modules)}
        single = calls[0] if len(calls) == 1 else InterpreterModuleDispatcher(members, calls)
        place.add_module(last, single)


def _folder(module: nn.Module, path: list[str]) -> nn.Module:
    for name in path:
        if name not in module._modules:
            module.add_module(name, nn.Module())
        module = module.get_submodule(name)
    return module


def _owners(module: nn.Module, path: list[str]) -> list[nn.Module]:
    """The module at a path, and those of its calls."""
    owner = _folder(module, path)
    calls = owner.call_modules() if isinstance(owner, InterpreterModuleDispatcher) else []
    return [owner, *calls]
