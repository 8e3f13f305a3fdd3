"""Hyperparameters of a run, beside its results."""

# tensorboard is optional, and its messages are made when they are imported
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taeda import Tensor
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.plugins.hparams.api_pb2 import (
    DATA_TYPE_BOOL,
    DATA_TYPE_FLOAT64,
    DATA_TYPE_STRING,
    STATUS_SUCCESS,
    Experiment,
)
from tensorboard.plugins.hparams.plugin_data_pb2 import (
    HParamsPluginData,
    SessionEndInfo,
    SessionStartInfo,
)

from ._values import number

__all__ = ["hparams"]

_KINDS = {bool: ("bool_value", DATA_TYPE_BOOL), str: ("string_value", DATA_TYPE_STRING)}


def hparams(
    parameters: Any, metrics: Any, domains: Mapping[str, list[Any]] | None
) -> list[Summary.Value]:
    """What the plugin wants to know: the experiment, and begin and end of its session.

    TypeError for what is no dict, ValueError for a value that is no text, number or bool.

    >>> made = hparams({"rate": 0.1, "layers": 2}, {"loss": 0.5}, None)
    >>> [value.tag for value in made]
    ['_hparams_/experiment', '_hparams_/session_start_info', '_hparams_/session_end_info']
    """
    for name, value in (("hparam_dict", parameters), ("metric_dict", metrics)):
        if not isinstance(value, dict):
            raise TypeError(f"add_hparams: {name} is {type(value).__name__}, and has to be a dict")
    domains = domains or {}
    if unknown := sorted(set(domains) - set(parameters)):
        raise ValueError(
            f"add_hparams: hparam_domain_discrete names {unknown}, which hparam_dict lacks"
        )
    experiment, start = Experiment(), SessionStartInfo()
    for name, value in parameters.items():
        if value is None:
            continue
        field, kind, plain = _plain(name, value)
        setattr(start.hparams[name], field, plain)
        info = experiment.hparam_infos.add(name=name, type=kind)
        if name in domains:
            info.domain_discrete.extend([_domain(name, one, field) for one in domains[name]])
    for name in metrics:
        experiment.metric_infos.add().name.tag = name
    return [
        _value("experiment", HParamsPluginData(experiment=experiment, version=0)),
        _value("session_start_info", HParamsPluginData(session_start_info=start, version=0)),
        _value(
            "session_end_info",
            HParamsPluginData(session_end_info=SessionEndInfo(status=STATUS_SUCCESS), version=0),
        ),
    ]


def _plain(name: str, value: Any) -> tuple[str, int, Any]:
    if type(value) in _KINDS:
        return (*_KINDS[type(value)], value)
    if isinstance(value, (int, float, Tensor)) or hasattr(value, "dtype"):
        return "number_value", DATA_TYPE_FLOAT64, number(value, f"add_hparams: {name}")
    raise ValueError(
        f"add_hparams: {name} is {type(value).__name__}, and has to be a bool, text, number or None"
    )


def _domain(name: str, value: Any, field: str) -> Any:
    found, _, plain = _plain(name, value)
    if found != field:
        raise TypeError(
            f"add_hparams: {value!r} in the domain of {name} is of another type than its value"
        )
    return plain


def _value(name: str, content: HParamsPluginData) -> Summary.Value:
    data = SummaryMetadata.PluginData(plugin_name="hparams", content=content.SerializeToString())
    return Summary.Value(tag=f"_hparams_/{name}", metadata=SummaryMetadata(plugin_data=data))
