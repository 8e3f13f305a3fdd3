"""How a module gains and loses members: assignment, deletion, `register_*`, and what is refused."""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from taeda import Tensor
from taeda._core_api.foreign import remark

from ..parameter import Buffer, Parameter
from . import _global_hooks
from ._members import TABLES, adopt_hooks, adopt_tables, note_change, plain_hooks
from ._saving import adapt

__all__ = ["Registration"]

_KINDS = {"_parameters": "parameter", "_buffers": "buffer", "_modules": "module"}
_EXPECTED = {
    "_parameters": ("parameter", "taeda.nn.Parameter"),
    "_buffers": ("buffer", "taeda.Tensor"),
    "_modules": ("child module", "taeda.nn.Module"),
}


def _type_name(value: object) -> str:
    kind = type(value)
    module = kind.__module__
    return kind.__qualname__ if module == "builtins" else f"{module}.{kind.__qualname__}"


class Registration:
    """The part of Module that knows which attributes are parameters, buffers and children."""

    _parameters: MutableMapping[str, Parameter | None]
    _buffers: MutableMapping[str, Tensor | None]
    _modules: MutableMapping[str, Any]
    _non_persistent_buffers_set: set[str]

    # ---- explicit registration ----

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Add a parameter under `name`; None keeps the name without a value (and out of the state dict).

        Raises AttributeError before `Module.__init__`, TypeError for a name that is no string or a
        value that is no Parameter, KeyError for a name that is empty, dotted or taken, and ValueError
        for a tensor that was computed from others.
        """
        self._taeda_check_free("_parameters", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign {_type_name(param)!r} object to parameter {name!r} "
                f"(a taeda.nn.Parameter or None is wanted){remark(param)}"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"cannot assign a non-leaf tensor to parameter {name!r}: parameters are made, not "
                "computed. To express it as a function of another tensor, compute it in forward()"
            )
        for hook in _global_hooks.parameter_registration.values():
            changed = hook(self, name, param)
            param = param if changed is None else changed
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that moves with the module but is not trained.

        One that is not `persistent` stays out of the state dict. Refusals as in `register_parameter`.
        """
        self._taeda_check_free("_buffers", name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"cannot assign {_type_name(tensor)!r} object to buffer {name!r} "
                f"(a taeda.Tensor or None is wanted){remark(tensor)}"
            )
        for hook in _global_hooks.buffer_registration.values():
            changed = hook(self, name, tensor)
            tensor = tensor if changed is None else changed
        self._buffers[name] = tensor
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Any) -> None:
        """Add a child under `name`, which may be None. Refusals as in `register_parameter`."""
        if module is not None and not isinstance(module, Registration):
            raise TypeError(f"{_type_name(module)} is not a Module subclass{remark(module)}")
        self._taeda_check_free("_modules", name)
        self._modules[name] = self._taeda_registered_child(name, module)

    def register_module(self, name: str, module: Any) -> None:
        """The same as `add_module`."""
        self.add_module(name, module)

    def _taeda_registered_child(self, name: str, module: Any) -> Any:
        for hook in _global_hooks.module_registration.values():
            changed = hook(self, name, module)
            module = module if changed is None else changed
        return module

    def _taeda_ready(self, table: str) -> None:
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {_KINDS[table]} before Module.__init__() call")
        adopt_tables(self)

    def _taeda_check_free(self, table: str, name: str) -> None:
        """Refuse names that cannot be looked up by a path, or that mean something else already."""
        kind = _KINDS[table]
        self._taeda_ready(table)
        members = self.__dict__[table]
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string, got {_type_name(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name!r}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in members and hasattr(self, name):
            raise KeyError(f"attribute {name!r} already exists")

    # ---- attributes ----

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor):
            if isinstance(value, Parameter):
                self._taeda_forget(name, "_parameters")
                self.register_parameter(name, value)
            elif isinstance(value, Buffer) or name in self.__dict__.get("_buffers", ()):
                self._taeda_assign_buffer(name, value)
            else:
                self._taeda_assign_plain(name, value)
        elif isinstance(value, Registration):
            self._taeda_assign_child(name, value)
        elif name in self.__dict__:
            self._taeda_assign_plain(name, value)
        else:
            object.__setattr__(self, name, value)
            note_change()

    def _taeda_assign_buffer(self, name: str, value: Any) -> None:
        if value is not None:
            self._taeda_refuse_under("_parameters", name, value)
            self._taeda_refuse_under("_modules", name, value)
        known = name in self.__dict__.get("_buffers", ())
        persistent = getattr(value, "persistent", None) if isinstance(value, Buffer) else None
        if persistent is None:
            persistent = not (known and name in self._non_persistent_buffers_set)
        self.register_buffer(name, value, persistent)

    def _taeda_assign_child(self, name: str, value: Any) -> None:
        self._taeda_ready("_modules")
        self._taeda_refuse_under("_parameters", name, value)
        self._taeda_forget(name, "_modules")
        self._modules[name] = self._taeda_registered_child(name, value)

    def _taeda_assign_plain(self, name: str, value: Any) -> None:
        """A value that is no member: refused under a member's name, unless it is None."""
        for table in TABLES:
            members = self.__dict__.get(table)
            if members is not None and name in members:
                return self._taeda_assign_placeholder(table, name, value)
        same = name in self.__dict__ and self.__dict__[name] is value
        object.__setattr__(self, name, value)
        if name in TABLES:
            adopt_tables(self)
        if not same:
            note_change()
        return None

    def _taeda_refuse_under(self, table: str, name: str, value: Any) -> None:
        """Raises TypeError if `name` stands for a member of another kind."""
        if name in self.__dict__.get(table, ()):
            kind, wanted = _EXPECTED[table]
            raise TypeError(
                f"cannot assign {_type_name(value)!r} as {kind} {name!r} ({wanted} or None expected)"
                f"{remark(value)}"
            )

    def _taeda_assign_placeholder(self, table: str, name: str, value: Any) -> None:
        if value is not None:
            self._taeda_refuse_under(table, name, value)
        if table == "_parameters":
            self.register_parameter(name, None)
        elif table == "_buffers":
            self._taeda_assign_buffer(name, None)
        else:
            self._modules[name] = self._taeda_registered_child(name, None)

    def _taeda_forget(self, name: str, keep: str) -> None:
        """Drop `name` wherever it stands, except in the table `keep`."""
        attributes = self.__dict__
        for table in TABLES:
            members = attributes.get(table)
            if members is not None and name in members:
                if table == keep:
                    return
                del members[name]
                self._non_persistent_buffers_set.discard(name)
        if name in attributes:
            del attributes[name]
            note_change()

    def __getattr__(self, name: str) -> Any:
        attributes = self.__dict__
        for table in TABLES:
            members = attributes.get(table)
            if members is not None and name in members:
                return members[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __delattr__(self, name: str) -> None:
        for table in TABLES:
            members = self.__dict__.get(table)
            if members is not None and name in members:
                del members[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)
        note_change()

    def __dir__(self) -> list[str]:
        names = {*object.__dir__(self), *self._parameters, *self._buffers, *self._modules}
        return sorted(name for name in names if not name[:1].isdigit())

    # ---- copies ----

    def __getstate__(self) -> dict[str, Any]:
        """The attributes. Members appear once, in their tables. What a hook computes before each
        forward, as that of `weight_norm`, goes along as it is now, without its graph.
        """
        state = dict(self.__dict__)
        state.pop("_compiled_call_impl", None)  # what was captured is of this process
        for table in TABLES:
            members = state.get(table)
            if members is not None:
                for name in members:
                    state.pop(name, None)
                state[table] = dict(members)
        for hook in state.get("_forward_pre_hooks", {}).values():
            name = getattr(hook, "_computes", None)
            if isinstance(name, str) and isinstance(state.get(name), Tensor):
                state[name] = state[name].detach()
        plain_hooks(state)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(adapt(self, state))
        adopt_hooks(self)
        adopt_tables(self)
        note_change()
