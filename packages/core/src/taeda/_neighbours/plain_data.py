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


def class_named(name: str) -> type | None:
    """The class of the list under a full name, or of a model of a library; None for other names, and before
    it was imported.
    """
    is_model = name.startswith(_MODELS)
    if name not in CLASSES and not is_model:
        return None
    module, _, last = name.rpartition(".")
    found = vars(sys.modules[module]).get(last) if module in sys.modules else None
    if not isinstance(found, type) or (is_model and not _is_module(found)):
        return None
    return found


def _is_module(kind: type) -> bool:
    return any((k.__module__, k.__name__) == _MODULE for k in kind.__mro__[1:])


def name_of(kind: type) -> str | None:
    """The full name of a class of the list; None for others."""
    name = f"{kind.__module__}.{kind.__qualname__}"
    return name if class_named(name) is kind else None


def without_owner(kind: type, fields: dict[str, Any]) -> dict[str, Any]:
    """What is saved of the fields of an object of a class."""
    if not kind.__module__.startswith(_GRAPHS):
        return fields
    return {name: value for name, value in fields.items() if name != _OWNER}


def adopt(owner: Any, fields: dict[str, Any]) -> None:
    """Give back to the stores of a graph, which are in its fields or in dicts there, their owner."""
    if not type(owner).__module__.startswith(_GRAPHS):
        return
    for field in fields.values():
        for value in field.values() if type(field) is dict else (field,):
            if type(value).__module__ == f"{_GRAPHS}storage":
                own: Any = vars(value)
                own[_OWNER] = weakref.ref(owner)
