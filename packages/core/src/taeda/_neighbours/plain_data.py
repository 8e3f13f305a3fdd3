"""Objects of other libraries that are plain data: files may hold them where the program has imported
their classes.

A file never imports a class, and none of its code runs: fields are put in place. What an object holds
of its owner, a reference back, is left out and put in again.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

__all__ = ["CLASSES", "adopt", "class_named", "name_of", "without_owner"]


def _below(module: str, names: str) -> set[str]:
    return {f"{module}.{name}" for name in names.split()}


#: settings of training programs and what they hold, and graphs
CLASSES = frozenset(
    _below("transformers.training_args", "TrainingArguments OptimizerNames ParallelMode")
    | _below("transformers.training_args_seq2seq", "Seq2SeqTrainingArguments")
    | _below("transformers.trainer_pt_utils", "AcceleratorConfig")
    | _below("transformers.debug_utils", "DebugOption")
    | _below(
        "transformers.trainer_utils",
        "FSDPOption HPSearchBackend HubStrategy IntervalStrategy SaveStrategy SchedulerType",
    )
    | _below("accelerate.state", "PartialState")
    | _below("accelerate.utils.dataclasses", "DistributedType")
    | _below("trl.trainer.sft_config", "SFTConfig")
    | _below("trl.trainer.dpo_config", "DPOConfig")
    | _below("trl.trainer.grpo_config", "GRPOConfig")
    | _below("trl.trainer.reward_config", "RewardConfig")
    | _below("ultralytics.utils", "IterableSimpleNamespace")
    | _below("fastcore.foundation", "L")
    | _below("torch_geometric.data.data", "Data DataEdgeAttr DataTensorAttr")
    | _below("torch_geometric.data.hetero_data", "HeteroData")
    | _below("torch_geometric.data.temporal", "TemporalData")
    | _below("torch_geometric.data.storage", "BaseStorage EdgeStorage GlobalStorage NodeStorage")
)
#: packages whose modules are saved whole in checkpoints of their own training
_MODELS = ("ultralytics.nn.",)
_MODULE = ("taeda.nn.modules.module", "Module")
#: the library whose graphs hold stores, each with a reference to its graph in this field
_GRAPHS, _OWNER = "torch_geometric.data.", "_parent"
#: the module whose class makes a class of batches of each kind of graph, at its first call: their names,
#: and where the kinds are
_BATCHES = "torch_geometric.data.batch"
_BATCHED = {
    "DataBatch": "Data",
    "HeteroDataBatch": "HeteroData",
    "TemporalDataBatch": "TemporalData",
}


def class_named(name: str) -> type | None:
    """The class of the list under a full name, or of a model of a library; None for other names, and before
    it was imported.
    """
    module, _, last = name.rpartition(".")
    if module == _BATCHES and last in _BATCHED:
        return _batch_named(last)
    is_model = name.startswith(_MODELS)
    if name not in CLASSES and not is_model:
        return None
    found = vars(sys.modules[module]).get(last) if module in sys.modules else None
    if not isinstance(found, type) or (is_model and not _is_module(found)):
        return None
    return found


def _batch_named(name: str) -> type | None:
    """The class of batches under a name, which the library makes now if it has not yet; None before the
    program has imported the library.
    """
    module = sys.modules.get(_BATCHES)
    base = getattr(sys.modules.get("torch_geometric.data"), _BATCHED[name], None)
    if module is None or base is None:
        return None
    found = vars(module).get(name)
    return found if isinstance(found, type) else type(vars(module)["Batch"](_base_cls=base))


def _is_module(kind: type) -> bool:
    return any((k.__module__, k.__name__) == _MODULE for k in kind.__mro__[1:])


def name_of(kind: type) -> str | None:
    """The full name of a class of the list; None for others."""
    if (
        kind.__name__ in _BATCHED
        and vars(sys.modules.get(_BATCHES, sys)).get(kind.__name__) is kind
    ):
        return f"{_BATCHES}.{kind.__name__}"
    name = f"{kind.__module__}.{kind.__qualname__}"
    return name if class_named(name) is kind else None


def _is_graph(kind: type) -> bool:
    """A graph, a batch of graphs, or what they are made of."""
    return any(base.__module__.startswith(_GRAPHS) for base in kind.__mro__)


def without_owner(kind: type, fields: dict[str, Any]) -> dict[str, Any]:
    """What is saved of the fields of an object of a class."""
    if not _is_graph(kind):
        return fields
    return {name: value for name, value in fields.items() if name != _OWNER}


def adopt(owner: Any, fields: dict[str, Any]) -> None:
    """Give back to the stores of a graph, which are in its fields or in dicts there, their owner."""
    if not _is_graph(type(owner)):
        return
    for field in fields.values():
        for value in field.values() if type(field) is dict else (field,):
            if type(value).__module__ == f"{_GRAPHS}storage":
                own: Any = vars(value)
                own[_OWNER] = weakref.ref(owner)
