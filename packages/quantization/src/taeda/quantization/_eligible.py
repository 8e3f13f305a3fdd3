"""Which linear layers may be replaced. What is not known to be harmless is a reason to leave one as it is."""

from __future__ import annotations

from dataclasses import dataclass

import taeda
from taeda import Tensor
from taeda.nn import Embedding, Linear, Module

__all__ = ["Owner", "Places", "label_of", "reason"]

_DTYPES = (taeda.float32, taeda.bfloat16, taeda.float16)
#: what a module may hold: all that the packed layer takes over, or has itself
_KNOWN: dict[type[Module], frozenset[str]] = {
    Linear: frozenset(vars(Linear(1, 1))),
    Embedding: frozenset(vars(Embedding(1, 1))),
}
_PARAMETERS = {"weight", "bias"}


@dataclass(frozen=True)
class Owner:
    """A module's parameter that is some tensor."""

    name: str
    module: Module
    parameter: str


class Places:
    """For every parameter of a model, all that own it: a weight may be tied."""

    def __init__(self, model: Module) -> None:
        self._owners: dict[int, list[Owner]] = {}
        for name, module in model.named_modules():
            for parameter, tensor in module._parameters.items():
                if tensor is not None:
                    self._owners.setdefault(id(tensor), []).append(Owner(name, module, parameter))

    def of(self, tensor: Tensor | None) -> list[Owner]:
        """Empty for what is no parameter of the model."""
        return [] if tensor is None else self._owners.get(id(tensor), [])


def label_of(name: str, linear: Linear, owners: list[Owner]) -> str:
    """The layer's name, and those that share its weight."""
    others = [owner.name for owner in owners if owner.module is not linear]
    return f"{name} ({', '.join(others)})" if others else name


def reason(linear: Linear, owners: list[Owner]) -> str:
    """Why this layer is not to be replaced; "" if it may be. owners: of its weight."""
    if type(linear) is not Linear:
        return f"a {type(linear).__name__}: only nn.Linear itself is replaced"
    weight = linear._parameters.get("weight")
    if weight is None:
        return "its weight is no parameter"
    return _of_weight(weight) or next(filter(None, map(_of_owner, owners)), "")


def _of_weight(weight: Tensor) -> str:
    if type(weight) is not taeda.nn.Parameter:
        return f"its weight is a {type(weight).__name__}"
    if weight.dtype not in _DTYPES:
        return f"its weight is {weight.dtype}"
    if weight.layout is not taeda.strided:
        return f"its weight is {weight.layout}"
    if weight.device.type not in ("cpu", "meta"):
        return f"its weight is on {weight.device}; packed weights compute on the cpu"
    return ""


def _of_owner(owner: Owner) -> str:
    module = owner.module
    if type(module) not in _KNOWN or owner.parameter != "weight":
        return f"its weight is also {owner.name + '.' if owner.name else ''}{owner.parameter}"
    if isinstance(module, Embedding) and module.max_norm is not None:
        return f"{owner.name} shortens its rows in place (max_norm)"
    more = _more_than_known(module)
    return f"{owner.name} has {more}" if more else ""


def _more_than_known(module: Module) -> str:
    """What a packed layer in its place would lack; "" for nothing."""
    facts = vars(module)
    if any(facts[name] for name in facts if name.endswith("_hooks")):
        return "hooks"
    unknown = [name for name in facts if name not in _KNOWN[type(module)] and name != "_hooked"]
    unknown = [name for name in unknown if not name.endswith("_hooks")]
    held = [*module._buffers, *module._modules, *(set(module._parameters) - _PARAMETERS)]
    return ", ".join(map(repr, [*unknown, *held]))
