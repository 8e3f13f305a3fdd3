"""GraphModule: a module whose forward is made from a graph."""

from __future__ import annotations

import copy
import itertools
import linecache
import os
from typing import Any

from taeda import Tensor, nn

from .graph import Graph, PythonCode

__all__ = ["GraphModule"]

#: the key in `meta` under which a module's attributes outlive a copy; libraries ask for it
_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"

_numbers = itertools.count()


class _CodeOnlyModule(nn.Module):
    """A module that has the attributes of another one and not its class; for libraries that copy graphs."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


def _compiled(code: PythonCode) -> Any:
    """The function of a piece of text. The text is kept where tracebacks look for it."""
    name = f"<taeda.fx graph {next(_numbers)}>"
    lines = code.src.splitlines(keepends=True)
    linecache.cache[name] = (len(code.src), None, lines, name)
    space: dict[str, Any] = dict(code.globals)
    exec(compile(code.src, name, "exec"), space)
    return space["forward"]


def _copy_attr(from_module: Any, to_module: Any, target: str) -> None:
    """Give `to_module` what `from_module` has at a dotted path, through new empty modules where
    there are none.
    """
    *prefix, field = target.split(".")
    for part in prefix:
        origin, there = getattr(from_module, part), getattr(to_module, part, None)
        if there is origin:
            return  # the whole branch came already
        if there is None:
            there = nn.Module()
            there.training = getattr(origin, "training", True)
            setattr(to_module, part, there)
        from_module, to_module = origin, there
    value = getattr(from_module, field)
    _assign(to_module, field, value, field in getattr(from_module, "_buffers", {}))


def _assign(module: Any, field: str, value: Any, is_buffer: bool) -> None:
    if is_buffer or (isinstance(value, Tensor) and not isinstance(value, nn.Parameter)):
        module.register_buffer(field, value)
    else:
        setattr(module, field, value)


class GraphModule(nn.Module):
    """A module that runs a graph; `graph` may be assigned, and edited before `recompile()`.

    `root` is a module, or a dict from dotted paths to what lies there: what the graph names is taken from it.
    AttributeError, or RuntimeError for a dict, if something is not there.

    >>> traced = taeda.fx.symbolic_trace(lambda x: x + 1)
    >>> print(traced.code.strip())
    def forward(self, x):
        add = x + 1;  x = None
        return add
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        # Each object has a class of its own, so that `forward` is a method of a class as everywhere.
        base = next(c for c in cls.__mro__ if not c.__dict__.get("_is_generated", False))
        made = type(base.__name__, (base,), {"_is_generated": True, "__module__": base.__module__})
        return super().__new__(made)

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        type(self).__name__ = class_name
        self.training = getattr(root, "training", True)
        targets = {str(n.target): n.op for n in graph.nodes if n.op in ("get_attr", "call_module")}
        if isinstance(root, nn.Module):
            for target in targets:
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            self._take(root, targets)
        else:
            raise RuntimeError(f"Unsupported type {type(root)} passed for root!")
        self._class_name = class_name
        self.meta: dict[str, Any] = {}  # for passes: what they know of the whole; copies have it
        self.graph = graph

    def _take(self, root: dict[str, Any], targets: dict[str, str]) -> None:
        for target in sorted(targets, key=lambda t: t.count(".")):
            if target not in root:
                raise RuntimeError(
                    f"Node referenced target {target} but that target was not provided in `root`!"
                )
            *prefix, field = target.split(".")
            place: Any = self
            for part in prefix:
                if not hasattr(place, part):
                    setattr(place, part, nn.Module())
                place = getattr(place, part)
            _assign(place, field, root[target], False)

    # ---- graph and code ----

    @property
    def graph(self) -> Graph:
        """The graph. Assigning another one makes new code."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        object.__setattr__(self, "_graph", g)
        g.owning_module = self
        self.recompile()

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "graph":
            object.__setattr__(self, name, value)
        else:
            super().__setattr__(name, value)

    def recompile(self) -> PythonCode:
        """Make the code anew; needed after the graph was edited."""
        code = self._graph.python_code("self")
        object.__setattr__(self, "_code", code.src)
        type(self).forward = _compiled(code)  # type: ignore[method-assign]  # what it is for
        return code

    @property
    def code(self) -> str:
        """The Python text of `forward`."""
        return self._code

    def print_readable(self, print_output: bool = True) -> str:
        """The code under the name of the class, with a comment for each place in the user's
        program; printed and returned.
        """
        source = self._graph.python_code("self", verbose=True).src
        name = getattr(self, "_class_name", type(self).__name__)
        text = f"class {name}(taeda.nn.Module):" + source.replace("\n", "\n    ").rstrip() + "\n"
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        return (
            f"{super().__str__()}\n\n{self._code}\n# To see more debug info, please use "
            "`graph_module.print_readable()`"
        )

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write the module as Python that people can read and change: afterwards
        `from <folder> import <module_name>` gives a class, whose object computes the same.

        `module.py` has the code, `state_dict.pt` the tensors, which it loads as data only. Files
        of these names, and `__init__.py`, are replaced, each in one step. RuntimeError, before
        anything is written, for what cannot be written as text: a submodule whose arguments are
        not among its attributes, a function or class that no import finds.
        """
        from ._to_folder import to_folder  # late: it writes graph modules

        to_folder(self, folder, module_name)

    # ---- submodules ----

    def add_submodule(self, target: str, m: nn.Module) -> bool:
        """Put `m` at a dotted path, with empty modules on the way; False if something else is in the way."""
        *prefix, field = target.split(".")
        place: Any = self
        for part in prefix:
            if not hasattr(place, part):
                setattr(place, part, nn.Module())
            place = getattr(place, part)
            if not isinstance(place, nn.Module):
                return False
        setattr(place, field, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take the module at a dotted path away; False if there is none."""
        path, _, field = target.rpartition(".")
        try:
            place = self.get_submodule(path)
        except AttributeError:
            return False
        if not isinstance(getattr(place, field, None), nn.Module):
            return False
        delattr(place, field)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take away the modules that no node names, is inside of, or holds something of."""
        used: set[str] = set()
        for node in self._graph.nodes:
            if node.op in ("get_attr", "call_module"):
                parts = str(node.target).split(".")
                used.update(".".join(parts[:end]) for end in range(1, len(parts) + 1))
                if node.op == "call_module":
                    inner = self.get_submodule(str(node.target)).named_modules()
                    used.update(f"{node.target}.{name}" for name, _ in inner if name)
        for name, _ in list(self.named_modules()):
            if name and name not in used:
                self.delete_submodule(name)

    # ---- copies and pickles ----

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made = GraphModule.__new__(type(self))
        memo[id(self)] = made
        nn.Module.__init__(made)
        type(made).__name__ = type(self).__name__
        for name, value in vars(self).items():
            if name not in ("_graph", "_code"):
                made.__dict__[name] = copy.deepcopy(value, memo)
        made.graph = copy.deepcopy(self._graph, memo)
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule.__new__(type(self))
        nn.Module.__init__(made)
        type(made).__name__ = type(self).__name__
        made.__dict__.update({k: v for k, v in vars(self).items() if k not in ("_graph", "_code")})
        made.graph = copy.deepcopy(self._graph)
        return made

    def __reduce__(self) -> Any:
        state = {k: v for k, v in self.__getstate__().items() if k not in ("_graph", "_code")}
        base = next(c for c in type(self).__mro__ if not c.__dict__.get("_is_generated", False))
        return _unpickled, (base, type(self).__name__, state, self._graph)


def _unpickled(base: type, name: str, state: dict[str, Any], graph: Graph) -> GraphModule:
    made: GraphModule = base.__new__(base)  # type: ignore[call-overload]  # a class of graph modules
    nn.Module.__init__(made)
    type(made).__name__ = name
    made.__setstate__(state)
    made.graph = graph
    return made
