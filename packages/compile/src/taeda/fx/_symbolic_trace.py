"""The tracer: it runs a program on proxies, and keeps modules of taeda.nn as they are."""

from __future__ import annotations

import inspect
import math
import sys
import types
from collections.abc import Callable
from types import ModuleType
from typing import Any

from taeda import Tensor, nn
from taeda._core_api.trees import tree_flatten
from taeda.nn import modules

from ._patching import recording, tracing, wrapped
from ._trees import PH, TreeArguments, is_tree
from .graph import Graph
from .graph_module import GraphModule
from .node import Argument, Node, has_side_effect
from .proxy import Proxy, TracerBase

__all__ = ["Tracer", "symbolic_trace", "wrap"]


class Tracer(TracerBase):
    """Traces modules and functions. Subclasses say what is a leaf, and see every node on its way.

    `autowrap_modules`: modules (math) whose functions become nodes where a proxy is among their
    arguments; `autowrap_functions`: the same for single functions. With `param_shapes_constant` the
    shape of a parameter is a constant, so that a program may branch on it.

    Args:
        autowrap_modules: modules whose functions become nodes where they get a proxy
            (default: (math,))
        autowrap_functions: single functions of the same kind (default: ())
        param_shapes_constant: whether shapes of parameters are numbers of the graph (default: False)

    >>> graph = taeda.fx.Tracer().trace(taeda.nn.Sequential(taeda.nn.ReLU()))
    >>> [node.op for node in graph.nodes]
    ['placeholder', 'call_module', 'output']
    """

    def __init__(
        self,
        autowrap_modules: tuple[ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        self._autowrap_modules, self._autowrap = autowrap_modules, autowrap_functions
        self.param_shapes_constant = param_shapes_constant
        self.root: nn.Module = nn.Module()
        self.submodule_paths: dict[nn.Module, str] | None = None
        self._parameters: dict[str, Proxy] = {}
        self._inside_leaf = False
        self.proxy_buffer_attributes = getattr(type(self), "proxy_buffer_attributes", False)

    # ---- what a subclass may decide ----

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Whether a call of `m` is one node: so it is for modules of taeda.nn, but for Sequential
        and the like.
        """
        module = type(m).__module__
        return (module == "taeda.nn" or module.startswith("taeda.nn.")) and not isinstance(
            m, (modules.Sequential, modules.ModuleList, modules.ModuleDict)
        )

    def path_of_module(self, mod: nn.Module) -> str:
        """The dotted name of `mod` below the root. NameError if it is not in there."""
        if self.submodule_paths is not None:
            path = self.submodule_paths.get(mod)
            if path is not None:
                return path
        else:
            for name, module in self.root.named_modules():
                if module is mod:
                    return name
        raise NameError(f"module {mod!r} is not installed as a submodule")

    def call_module(
        self, m: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        """A module is called: a node if it is a leaf, else `forward` runs and is traced through."""
        path = self.path_of_module(m)
        if self.is_leaf_module(m, path):
            return self.create_proxy("call_module", path, args, kwargs)
        return forward(*args, **kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """A parameter, buffer or submodule is read from a module: parameters become nodes."""
        if isinstance(attr_val, nn.Parameter):
            return self._as_proxy(attr_val, self.root.named_parameters(), parameter_proxy_cache)
        if self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            return self._as_proxy(attr_val, self.root.named_buffers(), parameter_proxy_cache)
        return attr_val

    def _as_proxy(self, value: Tensor, named: Any, cache: dict[str, Any]) -> Any:
        for name, own in named:
            if own is value:
                if name not in cache:
                    cache[name] = self.create_proxy(
                        "get_attr", name, (), {}, proxy_factory_fn=self._factory(value)
                    )
                return cache[name]
        return value

    def _factory(self, value: Tensor) -> Any:
        if not self.param_shapes_constant:
            return None
        return lambda node: ParameterProxy(self, node, value)

    def create_arg(self, a: Any) -> Argument:
        """Parameters and buffers become get_attr nodes; other tensors are kept as constants of the root."""
        if isinstance(a, Tensor) and not isinstance(a, Proxy):
            return self._tensor(a)
        if isinstance(a, nn.Module):
            return self.create_node("get_attr", self._module_path(a), (), {})
        return super().create_arg(a)

    def _module_path(self, module: nn.Module) -> str:
        try:
            return self.path_of_module(module)
        except NameError:
            name = self.get_fresh_qualname("_module_constant")
            setattr(self.root, name, module)
            return name

    def _tensor(self, a: Tensor) -> Node:
        path = self._tensor_path(a)
        return self.create_node("get_attr", path, (), {})

    def _tensor_path(self, a: Tensor) -> str:
        for named in (self.root.named_parameters(), self.root.named_buffers()):
            for name, own in named:
                if own is a:
                    return name
        path = self._attributes.get(id(a))
        if path is None:
            path = self._attributes[id(a)] = self.get_fresh_qualname("_tensor_constant")
            self._kept.append(a)
            object.__setattr__(self.root, path, a)
        return path

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name that no attribute of the root has: the prefix and a number."""
        number = 0
        while hasattr(self.root, f"{prefix}{number}"):
            number += 1
        return f"{prefix}{number}"

    # ---- the way of one trace ----

    def trace(
        self, root: nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
    ) -> Graph:
        """The graph of a module's forward, or of a function.

        `concrete_args` are not traced: the program runs with them, and the traced one insists on them.
        """
        is_module = isinstance(root, nn.Module)
        self.root = root if isinstance(root, nn.Module) else nn.Module()
        function: Any = root
        if isinstance(root, nn.Module):
            function = _forward_of(root)
            self.submodule_paths = {
                m: name for name, m in root.named_modules(remove_duplicate=True)
            }
        else:
            self.submodule_paths = None
        self.graph = Graph(tracer_cls=type(self))
        self._parameters = {}
        self._attributes = _tensor_attributes(self.root) if is_module else {}
        self._kept: list[Tensor] = []  # so that no other tensor takes its identity
        bare, args = self.create_args_for_root(function, is_module, concrete_args)
        spaces = _spaces(bare, self.root)
        with tracing(self, spaces), _Autowrap(self._autowrap_modules, self._autowrap, spaces):
            result = bare(*args)
            hint = getattr(function, "__annotations__", {}).get("return")
            self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=hint)
        self.submodule_paths = None
        return self.graph

    def create_args_for_root(
        self, root_fn: Any, is_module: bool, concrete_args: dict[str, Any] | None = None
    ) -> tuple[Callable[..., Any], list[Any]]:
        """(function, arguments): a placeholder for each parameter that `concrete_args` does not give."""
        parameters = list(inspect.signature(inspect.unwrap(root_fn)).parameters.values())
        bound = is_module and not inspect.ismethod(root_fn)
        parameters = parameters[1:] if bound else parameters
        given = dict(concrete_args or {})
        unknown = set(given) - {p.name for p in parameters}
        if unknown:
            raise TypeError(f"concrete_args name no parameters: {sorted(unknown)}")
        self._trees: dict[str, Any] = {}
        values = {p.name: self._parameter(p, given) for p in parameters}
        function, order = _flat(root_fn, parameters)
        if self._trees:
            self.graph.set_codegen(TreeArguments(self._trees, [p.name for p in parameters]))
        return function, [*([self.root] if bound else []), *(values[name] for name in order)]

    def _parameter(self, p: inspect.Parameter, given: dict[str, Any]) -> Any:
        stars: dict[Any, str] = {
            inspect.Parameter.VAR_POSITIONAL: "*",
            inspect.Parameter.VAR_KEYWORD: "**",
        }
        default = () if p.default is inspect.Parameter.empty else (self.create_arg(p.default),)
        kind = None if _says_nothing(p.annotation) else p.annotation
        if p.name in given and p.kind not in stars and is_tree(given[p.name]):
            return self._tree(p.name, given[p.name])
        target = stars.get(p.kind, "") + p.name
        name = f"_{p.name}" if p.kind in stars else p.name
        made = self.create_proxy("placeholder", target, default, {}, name=name, type_expr=kind)
        if p.name not in given:
            return made
        value = given[p.name]
        self._insist(made, p.name, value)
        return value

    def _tree(self, name: str, value: Any) -> Any:
        """The same tree with proxies in place of PH; each leaf is an input."""
        leaves, spec = tree_flatten(value)
        made = [
            self.create_proxy("placeholder", f"{name}_{n}", (), {})
            for n in range(1, len(leaves) + 1)
        ]
        self._trees[name] = spec, [proxy.node.name for proxy in made]
        for proxy, leaf in zip(made, leaves, strict=True):
            proxy.node.target = proxy.node.name
            if leaf is not PH:
                self._insist(proxy, proxy.node.name, leaf)
        return spec.unflatten([p if v is PH else v for p, v in zip(made, leaves, strict=True)])

    def _insist(self, made: Proxy, name: str, value: Any) -> None:
        if isinstance(value, (bool, int, float, str)) or value is None:
            text = f"{name} has been specialized to have value {value!r} but got another value"
            args = (made, value, text)
            self.create_proxy("call_function", _assert_specialized, args, {})

    # ---- calls from the patched methods ----

    def _called(
        self, module: nn.Module, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: Any
    ) -> Any:
        return self.call_module(module, forward, args, kwargs)

    def _got(self, name: str, value: Any) -> Any:
        if isinstance(value, Tensor):
            return self.getattr(name, value, self._parameters)
        return value


@has_side_effect
def _assert_specialized(value: Any, wanted: Any, message: str) -> None:
    """Raise AssertionError unless the argument is the one that the program was traced with."""
    if type(value) is not type(wanted) or value != wanted:
        raise AssertionError(message)


class ParameterProxy(Proxy):
    """A parameter whose shape is known: questions for it are answered, not recorded."""

    def __init__(self, tracer: TracerBase, node: Node, value: Tensor) -> None:
        super().__init__(node, tracer)
        self._value = value

    @property
    def shape(self) -> Any:
        return self._value.shape

    def size(self, *args: Any) -> Any:
        return self._value.size(*args)

    def dim(self) -> int:
        return self._value.dim()

    @property
    def ndim(self) -> int:
        return self._value.dim()

    def numel(self) -> int:
        return self._value.numel()


def _says_nothing(annotation: Any) -> bool:
    """Whether a parameter may be anything. Of no other object is asked what it is equal to."""
    if isinstance(annotation, str):
        return annotation == "Any"
    return annotation is inspect.Parameter.empty or annotation is Any


def _forward_of(root: Any) -> Any:
    """The forward of a module as a function of itself; one that was set on the object is bound already."""
    own = root.__dict__.get("forward")
    return own if own is not None else type(root).forward


def _flat(
    function: Any, parameters: list[inspect.Parameter]
) -> tuple[Callable[..., Any], list[str]]:
    """(the function, its parameters' names in the order to pass them), with *args, **kwargs and
    keyword-only ones as plain ones.

    So the body sees one proxy as `args`, and may index it.
    """
    kinds = inspect.Parameter
    order = [
        kinds.POSITIONAL_ONLY,
        kinds.POSITIONAL_OR_KEYWORD,
        kinds.KEYWORD_ONLY,
        kinds.VAR_POSITIONAL,
        kinds.VAR_KEYWORD,
    ]
    sorted_ones = sorted(parameters, key=lambda p: order.index(p.kind))
    names = [p.name for p in sorted_ones]
    if all(p.kind in order[:2] for p in parameters):
        return function, names
    plain = function.__func__ if inspect.ismethod(function) else function
    code = getattr(plain, "__code__", None)
    if code is None or hasattr(plain, "__wrapped__"):
        raise NotImplementedError(
            f"cannot trace {plain!r}: it is decorated and has keyword-only parameters, *args or "
            "**kwargs; trace a function that calls it"
        )
    flags = code.co_flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = len(names) + (code.co_varnames[0] not in names)  # a method's own first one
    changed = code.replace(
        co_argcount=count, co_posonlyargcount=0, co_kwonlyargcount=0, co_flags=flags
    )
    made = types.FunctionType(changed, plain.__globals__, plain.__name__, None, plain.__closure__)
    return (
        types.MethodType(made, function.__self__) if inspect.ismethod(function) else made
    ), names


def _tensor_attributes(root: nn.Module) -> dict[int, str]:
    """Tensors that are plain attributes of modules, by identity."""
    found: dict[int, str] = {}
    for path, module in root.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, Tensor):
                found.setdefault(id(value), f"{path}.{name}".lstrip("."))
    return found


def _spaces(function: Any, root: nn.Module) -> list[dict[str, Any]]:
    """The globals of the functions that will run, as far as one can see."""
    bare = inspect.unwrap(function)
    found: dict[int, dict[str, Any]] = {}
    for one in (bare, *(getattr(type(m), "forward", None) for m in root.modules())):
        space = getattr(inspect.unwrap(one), "__globals__", None) if one is not None else None
        if space is not None and not str(space.get("__name__", "")).startswith("taeda."):
            found[id(space)] = space
    for _, space in list(wrapped.items()):
        found[id(space)] = space
    return list(found.values())


class _Autowrap:
    """Functions of chosen modules are recorded during a trace, where the traced program calls them."""

    def __init__(self, modules: Any, functions: Any, spaces: list[dict[str, Any]]) -> None:
        self.places = [vars(m) for m in modules]
        self.functions, self.spaces = functions, spaces
        self.undo: list[tuple[dict[str, Any], str, Any]] = []

    def _replace(self, space: dict[str, Any], name: str, value: Any) -> None:
        if not hasattr(value, "_fx_original"):
            self.undo.append((space, name, value))
            space[name] = recording(value)

    def __enter__(self) -> None:
        for space in self.places:
            for name, value in list(space.items()):
                if not name.startswith("_") and callable(value) and not isinstance(value, type):
                    self._replace(space, name, value)
        chosen = {id(f) for f in self.functions}
        for space in self.spaces if chosen else ():
            for name, value in list(space.items()):
                if id(value) in chosen:
                    self._replace(space, name, value)

    def __exit__(self, *raised: object) -> None:
        for space, name, value in reversed(self.undo):
            space[name] = value


def wrap(fn_or_name: Any) -> Any:
    """Make calls of a function nodes, never traced through: a decorator at module scope, or
    `wrap("len")` there.

    RuntimeError for what is neither a function nor a name, NotImplementedError away from module scope.

    Args:
        fn_or_name: a function, or the name of one that the module has

    >>> import math
    >>> class Root(taeda.nn.Module):
    ...     def forward(self, x):
    ...         return x * math.sqrt(4)
    >>> taeda.fx.symbolic_trace(Root())(taeda.ones(2))
    tensor([2., 2.])
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    if callable(fn_or_name):
        if hasattr(fn_or_name, "__code__"):
            name, space = fn_or_name.__code__.co_name, fn_or_name.__globals__
        else:
            name, space = fn_or_name.__name__, sys._getframe(1).f_globals
    else:
        name, space = fn_or_name, sys._getframe(1).f_globals
    if sys._getframe(1).f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    wrapped[id(space), name] = space
    return fn_or_name


def symbolic_trace(
    root: nn.Module | Callable[..., Any], concrete_args: dict[str, Any] | None = None
) -> GraphModule:
    """The module or function as a `GraphModule`: its graph, and Python code that runs.

    `concrete_args` fixes arguments, so that the program may branch on them; the result insists on
    their values. A list, tuple or dict among them is a tree: the program sees the tree itself, with
    a traced value wherever it holds `PH`, and the result is called with such trees. TypeError for
    other ones.

    Args:
        root: a module or function
        concrete_args: arguments that are not traced, by name (default: None)

    >>> def total(batch): return sum(batch.values())
    >>> symbolic_trace(total, concrete_args={"batch": {"a": PH, "b": PH}})({"a": 1, "b": 2})
    3

    >>> print(symbolic_trace(lambda x: taeda.relu(x) + 1).code)
    <BLANKLINE>
    def forward(self, x):
        relu = taeda.relu(x);  x = None
        add = relu + 1;  relu = None
        return add
    <BLANKLINE>
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, nn.Module) else getattr(root, "__name__", "f")
    return GraphModule(tracer.root, graph, name)
