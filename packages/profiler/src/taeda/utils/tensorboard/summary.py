"""What libraries take from here to write runs of their own."""

# tensorboard is optional, and its messages are made when they are imported
# pyright: reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorboard.compat.proto.summary_pb2 import Summary

from ._hparams import hparams as _values

__all__ = ["hparams"]


def hparams(
    hparam_dict: Mapping[str, Any] | None = None,
    metric_dict: Mapping[str, Any] | None = None,
    hparam_domain_discrete: Mapping[str, list[Any]] | None = None,
) -> tuple[Summary, Summary, Summary]:
    """The experiment, the begin and the end of its session, as summaries that a writer of files takes.

    Args:
        hparam_dict: settings by name: bool, text, number or None, which is left out
        metric_dict: results by name; their names alone are kept
        hparam_domain_discrete: for some settings, all values that they may have; None for none

    Raises:
        TypeError: for what is no dict
        ValueError: for a setting that is no text, number or bool

    >>> experiment, start, end = hparams({"rate": 0.1}, {"loss": 0.5})
    >>> start.value[0].tag
    '_hparams_/session_start_info'
    """
    experiment, start, end = _values(hparam_dict, metric_dict, hparam_domain_discrete)
    return Summary(value=[experiment]), Summary(value=[start]), Summary(value=[end])
