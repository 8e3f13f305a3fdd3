"""trace: what a function or module computed in one call, as a graph that computes it again.

a call of a traced module ─▶ the graph for arguments of this kind: structure, shapes, strides,
                          │  dtypes and devices
                          └▶ none: the function is traced again on copies of these arguments,
                             then its graph runs
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import taeda
from taeda import Tensor, _core_api, nn
from taeda._core_api import programs as _core
from taeda.compiler._graph.capture import Call, captured, parameters_of
from taeda.fx.graph import Graph
from taeda.fx.graph_module import _compiled
from taeda.fx.interpreter import Interpreter

from ._check import TracerWarning, TracingCheckError, first_difference, mismatches
from ._types import ScriptModule
from ._values import copies_of, kept, kind_of, results_only, shapes_of, tensors_only
from ._watching import TracingCapture, tracing

__all__ = ["TracedModule", "trace", "trace_module"]

KINDS = 64  # graphs of one method; the oldest but the first goes


class _Traced:
    """One graph, and the function made of it."""

    def __init__(self, call: Call, own: list[str], args: tuple[Any, ...]) -> None:
        self.shapes = shapes_of(args)
        self.graph, self.written, self.own = call.graph, call.written, own
        text = call.graph.python_code("self")
        self.code, self.run = text.src, _compiled(text)
        self.modes = any(n.target is taeda.set_grad_enabled for n in call.graph.nodes)

    def __call__(self, owner: nn.Module, args: tuple[Any, ...]) -> Any:
        if not self.modes:
            return self.run(owner, *args)
        if not taeda.is_grad_enabled():
            return _WithoutModes(owner, graph=self.graph).run(*args)
        with taeda.enable_grad():  # puts back what the graph sets if an operator raises
            return self.run(owner, *args)


class _WithoutModes(Interpreter):
    """Runs a graph where no gradients are wanted at all."""

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        return (
            None
            if target is taeda.set_grad_enabled
            else super().call_function(target, args, kwargs)
        )


class _Method:
    """One traced function of a module: its graphs, by the kind of their arguments."""

    def __init__(
        self, name: str, function: Callable[..., Any], source: nn.Module | None, strict: bool
    ) -> None:
        self.name, self.function, self.source, self.strict = name, function, source, strict
        self.names: list[str] = []
        # the last of the names: the function is given them by keyword
        self.keywords: list[str] = []
        self.graphs: dict[Any, _Traced] = {}
        self.first: Any = None
        self.examples: tuple[Any, ...] = ()  # copies of what it was traced with

    def begin(self, owner: TracedModule, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Trace the function for the first time."""
        self.keywords = list(kwargs)
        self.names = [*parameters_of(self.function, len(args)), *kwargs]
        given = (*args, *kwargs.values())
        self.first = self.add(owner, given)
        self.examples = copies_of(given, {})

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call in the order of `names`."""
        wanted = self.names[len(args) :]
        if len(args) > len(self.names) or set(kwargs) != set(wanted):
            given = [f"{len(args)} by position", *kwargs]
            raise RuntimeError(
                f"{self.name}() was traced with the arguments {', '.join(self.names) or 'none'}; "
                f"got {', '.join(given)}"
            )
        return (*args, *(kwargs[name] for name in wanted))

    def call(self, owner: TracedModule, args: tuple[Any, ...]) -> Any:
        """What the graph for these arguments gives."""
        if _core.get_layers():
            return self._layered(args)(owner, args)
        for value in args:
            tensors_only(value)
        known = self.graphs.get(kind_of(args))
        if known is None:
            known = self.add(owner, args)
        return known(owner, args)

    def _layered(self, args: tuple[Any, ...]) -> _Traced:
        """The graph for a call under a mode or transform, which cannot be traced."""
        wanted = shapes_of(args)
        for known in self.graphs.values():
            if known.shapes == wanted:
                return known
        raise RuntimeError(
            f"jit.trace: a mode or transform is active, and {self.name} was never called with "
            "arguments of these shapes and "
            "dtypes: call it once outside of it"
        )

    def _plain(self, args: tuple[Any, ...]) -> Any:
        count = len(args) - len(self.keywords)
        return self.function(*args[:count], **dict(zip(self.keywords, args[count:], strict=True)))

    def capture(self, owner: TracedModule, args: tuple[Any, ...]) -> tuple[Call, TracingCapture]:
        """The call on copies of these arguments."""
        for value in args:
            tensors_only(value)
        capture = TracingCapture()
        with tracing(), taeda.enable_grad():
            copies, memo = copies_of(args, {}), self._known(owner)
            made = captured(
                capture, lambda *a: self._plain(a), copies, self.names, memo, modes=True
            )
        if isinstance(made, str):
            raise RuntimeError(f"jit.trace: there is no graph of {self.name}: {made}")
        if any(after is not before for _, before, after in capture.gradients()):
            raise RuntimeError(
                f"jit.trace: {self.name} leaves gradients in .grad, which a graph does not"
            )
        results_only(made.result, self.strict)
        return made, capture

    def _buffers(self) -> list[Tensor]:
        """What a call of a module may write."""
        return list(self.source.buffers()) if self.source is not None else []

    def _known(self, owner: TracedModule) -> dict[int, str]:
        """Names of the tensors that graphs have as attributes, by id."""
        found = {id(t): name for name, t in _tensors_in(owner) if "_constant" in name}
        source = owner if self.source is None else self.source
        return found | {id(t): name for name, t in reversed(list(_tensors_in(source)))}

    def add(self, owner: TracedModule, args: tuple[Any, ...]) -> _Traced:
        """A graph for arguments of this kind. RuntimeError if the program is another one by now."""
        first = self.first
        if first is not None:
            self._check_unchanged(owner)
        with kept(self._buffers() if first is None else first.written):
            call, capture = self.capture(owner, args)
        capture.warn()
        if first is None:
            own = owner.adopt(call.constants)
        else:
            differs = first_difference(first.graph, call.graph, lambda node: None, numbers=False)
            own = owner.adopt(call.constants)
            if differs:
                _core_api.warn(
                    f"jit.trace: for arguments of this kind {self.name} runs other operators than "
                    f"when it was traced:\n{differs}",
                    TracerWarning,
                )
        made = _Traced(call, own, args)
        while len(self.graphs) >= KINDS:
            key = next(k for k, graph in self.graphs.items() if graph is not first)
            for name in self.graphs.pop(key).own:
                delattr(owner, name)
        self.graphs[kind_of(args)] = made
        return made

    def _again(self, owner: TracedModule, args: Any, *, numbers: bool) -> tuple[Call, str]:
        """The call traced once more, and where its graph differs from the first one, in words."""
        with kept(self.first.written):
            again, _ = self.capture(owner, args)
        held = again.constants
        differs = first_difference(
            self.first.graph,
            again.graph,
            lambda node: held[node.target] if node.target in held else owner.get(str(node.target)),
            numbers=numbers,
        )
        return again, differs

    def _check_unchanged(self, owner: TracedModule) -> None:
        """A graph for other arguments comes from the program as it is now, so that has to be the one
        that was traced: the same mode, the same numbers.
        """
        _, differs = self._again(owner, self.examples, numbers=True)
        if differs:
            raise RuntimeError(
                f"jit.trace: there is no graph for arguments of this kind, and {self.name} is not "
                f"the program any more that was traced; the first difference:\n{differs}\n"
                "Put back what changed (a mode, a number), trace it anew, or call it with "
                "arguments of both kinds before something changes"
            )

    def check(self, owner: TracedModule, args: tuple[Any, ...], tolerance: float) -> None:
        """Trace once more, compare the nodes, and what graph and program give."""
        traced = self.graphs.get(kind_of(args))
        again, differs = self._again(owner, args, numbers=traced is self.first)
        if differs:
            raise TracingCheckError(
                f"jit.trace: {self.name} is not what was traced when it is called again; the first "
                f"difference:\n{differs}"
            )
        if traced is None:
            traced = self.add(owner, args)
        with kept(self.first.written):
            found = traced(owner, copies_of(args, {}))
        for text in mismatches(found, again.result, tolerance):
            _core_api.warn(text, TracerWarning)


class TracedModule(ScriptModule):
    """What `trace` gives: a module with the parameters and buffers of the original, whose methods run graphs.

    `graph` and `code` are those of `forward` at the arguments it was traced with.

    Args:
        original_name: the name of the class or function that was traced

    >>> traced = trace(taeda.nn.Linear(2, 1), taeda.ones(1, 2))
    >>> isinstance(traced, TracedModule), traced(taeda.ones(3, 2)).shape
    (True, taeda.Size([3, 1]))
    """

    def __init__(self, original_name: str) -> None:
        super().__init__()
        self.original_name = original_name
        object.__setattr__(self, "_traced", {})

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the graph gives. RuntimeError for arguments that it was not traced with."""
        return self._call("forward", args, kwargs)

    def _call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        method = self._method(name)
        return method.call(self, method.bound(args, kwargs))

    def _method(self, name: str) -> _Method:
        found: dict[str, _Method] = self.__dict__["_traced"]
        if name not in found:
            raise RuntimeError(
                f"{self.original_name}.{name} was not traced; traced: {', '.join(found)}"
            )
        return found[name]

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_traced", ()):
            return lambda *args, **kwargs: self._call(name, args, kwargs)
        return super().__getattr__(name)

    @property
    def graph(self) -> Graph:
        """The graph, an `fx.Graph` over `taeda.ops.aten`."""
        made: Graph = self._method("forward").first.graph
        return made

    @property
    def code(self) -> str:
        """The graph as Python."""
        text: str = self._method("forward").first.code
        return text

    def extra_repr(self) -> str:
        """The name of the original."""
        return f"original_name={self.original_name}"

    def get(self, path: str) -> Any:
        """What lies at a dotted path."""
        prefix, _, name = path.rpartition(".")
        return getattr(self.get_submodule(prefix), name)

    def adopt(self, constants: dict[str, Tensor]) -> list[str]:
        """Take the tensors that nobody has as yet; their names."""
        own = [name for name in constants if "." not in name and not hasattr(self, name)]
        for name in own:
            value = constants[name]
            if isinstance(value, nn.Parameter):
                self.register_parameter(name, value)
            else:
                self.register_buffer(name, value, persistent=False)
        return own

    def take(self, module: nn.Module) -> None:
        """The tree of another module: its tensors, under their names."""
        _skeleton(module, self, {})


def _skeleton(module: nn.Module, into: nn.Module, made: dict[nn.Module, nn.Module]) -> None:
    made[module] = into
    into.training = module.training
    for name, parameter in module._parameters.items():
        into.register_parameter(name, parameter)
    for name, buffer in module._buffers.items():
        kept = name not in module._non_persistent_buffers_set
        into.register_buffer(name, buffer, persistent=kept)
    for name, child in module._modules.items():
        if child is not None and child not in made:
            _skeleton(child, nn.Module(), made)
        into.add_module(name, None if child is None else made[child])


def _tensors_in(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    yield from module.named_parameters(remove_duplicate=False)
    yield from module.named_buffers(remove_duplicate=False)


# ---- the functions ----


def trace(
    func: Any,
    example_inputs: Any = None,
    optimize: None = None,
    check_trace: bool = True,
    check_inputs: list[Any] | None = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
    *,
    example_kwarg_inputs: dict[str, Any] | None = None,
) -> TracedModule:
    """What `func`, a function or module, computes, as a module that runs a graph of operators.

    `example_inputs` is a tensor or a tuple of arguments, `example_kwarg_inputs` has those by
    keyword: tensors, and tuples, lists and dicts of them. `func` is called with copies, in this
    thread, with gradients on; `is_tracing()` is True meanwhile. Branches, numbers and flags are in
    the graph as they were. Where a value of a tensor became one of them, a TracerWarning names the
    line.

    Sizes are numbers of a graph, so each kind of arguments (structure, shapes, strides, dtypes,
    devices) has its own: a call with arguments of a new kind traces `func` again, and warns if it
    runs other operators for them. A trace is one program: if `func` is another one by then (another
    mode, another number), that call is a RuntimeError which names the first difference.

    With `check_trace`, `func` is traced twice, and for each of
    `check_inputs`: TracingCheckError names the first node that differs, TracerWarning tells of
    results that differ by more than `check_tolerance`. Parameters and buffers are shared with a
    traced module, under their names.

    RuntimeError for arguments and results that are no tensors, for lists and dicts among the
    results unless `strict=False`, for a function that leaves gradients, and for one that does what
    no graph has. `optimize` does nothing, and warns.

    Args:
        func: a function or module
        example_inputs: a tensor, or a tuple of arguments (default: None)
        optimize: does nothing (default: None)
        check_trace: whether to trace twice and compare (default: True)
        check_inputs: further arguments to compare with, each as `example_inputs` (default: None)
        check_tolerance: how far results may differ (default: 1e-5)
        strict: whether lists and dicts among the results are refused (default: True)
        example_kwarg_inputs: arguments by keyword (default: None)

    >>> import taeda
    >>> traced = trace(lambda x: (x * 2).relu(), taeda.ones(2))
    >>> print(traced.code.strip())
    def forward(self, x):
        mul = taeda.ops.aten.mul.Tensor(x, 2);  x = None
        relu = taeda.ops.aten.relu.default(mul);  mul = None
        return relu
    >>> traced(taeda.tensor([-1.0, 3.0, 4.0]))
    tensor([0., 6., 8.])
    """
    if isinstance(func, TracedModule):
        _core_api.warn("jit.trace: this was traced already, and comes back as it is")
        return func
    if not callable(func):
        raise RuntimeError(f"jit.trace: wanted a function or module, got {type(func).__name__}")
    owner = getattr(func, "__self__", None)
    if isinstance(owner, nn.Module) and func.__name__ == "forward":
        func = owner
    args, kwargs = _given(example_inputs, example_kwarg_inputs)
    checks = [
        _given(given, None) if not isinstance(given, dict) else ((), given)
        for given in check_inputs or ()
    ]
    source = func if isinstance(func, nn.Module) else None
    name = type(func).__name__ if source is not None else getattr(func, "__name__", "function")
    made = _traced_module(name, source, optimize)
    _trace_method(made, "forward", func, source, strict, args, kwargs)
    if check_trace:
        for checked, named in [(args, kwargs), *checks]:
            _check_method(made, "forward", checked, named, check_tolerance)
    vars(made)["_traces_a_function"] = source is None
    return made


def trace_module(
    mod: nn.Module,
    inputs: dict[str, Any],
    optimize: None = None,
    check_trace: bool = True,
    check_inputs: list[dict[str, Any]] | None = None,
    check_tolerance: float = 1e-5,
    strict: bool = True,
) -> TracedModule:
    """A module with several traced methods: `inputs` has the arguments of each by its name. See `trace`.

    AttributeError if `inputs` is no dict, RuntimeError if `mod` is no module.

    Args:
        mod: a module
        inputs: the arguments of each method, by its name
        optimize: does nothing (default: None)
        check_trace: whether to trace twice and compare (default: True)
        check_inputs: further dicts like `inputs` to compare with (default: None)
        check_tolerance: how far results may differ (default: 1e-5)
        strict: whether lists and dicts among the results are refused (default: True)

    >>> from taeda import nn
    >>> class Net(nn.Linear):
    ...     def weighted(self, x, w):
    ...         return self(x) * w
    >>> inputs = {"forward": taeda.ones(1, 2), "weighted": (taeda.ones(1, 2), taeda.zeros(1))}
    >>> traced = trace_module(Net(2, 1), inputs)
    >>> traced.weighted(taeda.ones(3, 2), taeda.zeros(1)).shape
    taeda.Size([3, 1])
    """
    if not isinstance(mod, nn.Module):
        raise RuntimeError(f"jit.trace_module: wanted a module, got {type(mod).__name__}")
    for given in [inputs, *(check_inputs or ())]:
        if not isinstance(given, dict):
            raise AttributeError(
                "jit.trace_module: wanted a dict from names of methods to arguments, got "
                f"{type(given).__name__}"
            )
    made = _traced_module(type(mod).__name__, mod, optimize)
    for name, given in inputs.items():
        function = mod if name == "forward" else getattr(mod, name)
        _trace_method(made, name, function, mod, strict, *_given(given, None))
    for checked in [inputs, *(check_inputs or ())] if check_trace else ():
        for name, given in checked.items():
            _check_method(made, name, _given(given, None)[0], {}, check_tolerance)
    return made


def _given(args: Any, kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if args is None and not isinstance(kwargs, dict):
        raise RuntimeError(
            "jit.trace: example_inputs is missing: a tensor, or a tuple of arguments"
        )
    if kwargs is not None and not isinstance(kwargs, dict):
        raise RuntimeError(
            f"jit.trace: example_kwarg_inputs should be a dict, got {type(kwargs).__name__}"
        )
    if args is None:
        return (), kwargs or {}
    if isinstance(args, Tensor | dict):
        return (args,), kwargs or {}
    return tuple(args), kwargs or {}


def _traced_module(name: str, source: nn.Module | None, optimize: Any) -> TracedModule:
    if _core.get_layers():
        raise RuntimeError(
            "jit.trace: a mode or transform is active around it; trace outside of it"
        )
    if optimize is not None:
        _core_api.warn("jit.trace: optimize does nothing", DeprecationWarning)
    made = TracedModule(name)
    if source is not None:
        made.take(source)
    return made


def _trace_method(
    made: TracedModule,
    name: str,
    function: Any,
    source: nn.Module | None,
    strict: bool,
    args: Any,
    kwargs: Any,
) -> None:
    said = made.original_name if name == "forward" else f"{made.original_name}.{name}"
    method = _Method(said, function, source, strict)
    made.__dict__["_traced"][name] = method
    method.begin(made, args, kwargs)


def _check_method(made: TracedModule, name: str, args: Any, kwargs: Any, tolerance: float) -> None:
    method = made._method(name)
    method.check(made, method.bound(args, kwargs), tolerance)
