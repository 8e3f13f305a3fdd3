"""Settings of `taeda.compiler`, as attributes.

    job_id    what this process is a part of; lines of the logger `taeda.compiler` begin with it
    chains    what becomes of chains of elementwise operations: "background", they are compiled
              while the program runs and taken if they are faster; "wait", compiled in the call that
              asks for it and taken untimed, for measurements and tests; "off"

`job_id` is a string, or None as at first, unless the environment variable `TAEDA_COMPILE_JOB_ID`
says another; `chains` is "background", or what `TAEDA_COMPILE_CHAINS` says. Many processes that
write to one log are told apart by `job_id`, and attempts of one job are found together. It changes
no graph, and no setting changes a result. Another name, or another value, is refused: nothing would
act on it.

>>> import taeda.compiler
>>> taeda.compiler.config.job_id = "digits-3"
>>> taeda.compiler.config.job_id
'digits-3'
>>> taeda.compiler.config.job_id = None
"""

from __future__ import annotations

import logging
import os
import sys
from types import ModuleType
from typing import Any

from ._logs import ARTIFACTS, COMPONENTS, log_of, read_environment

__all__ = ["chains", "job_id"]

job_id: str | None = os.environ.get("TAEDA_COMPILE_JOB_ID") or None
chains: str = os.environ.get("TAEDA_COMPILE_CHAINS") or "background"
_CHAINS = ("background", "wait", "off")


class _Named(logging.Filter):
    """Puts the name of the job before each line."""

    def filter(self, record: logging.LogRecord) -> bool:
        if job_id is not None:
            record.msg, record.args = f"{job_id}: {record.getMessage()}", ()
        return True


class _Config(ModuleType):
    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
            return
        if name not in __all__:
            raise AttributeError(
                f"taeda.compiler.config has no {name!r}; it has {', '.join(__all__)}"
            )
        if name == "chains":
            _check_chains(value)
        elif value is not None and not isinstance(value, str):
            raise ValueError(f"{name} is a string or None, got {value!r:.60}")
        super().__setattr__(name, value)


def _check_chains(value: Any) -> None:
    if value not in _CHAINS:
        words = ", ".join(map(repr, _CHAINS))
        raise ValueError(f"chains (TAEDA_COMPILE_CHAINS) is one of {words}, got {value!r:.60}")


_check_chains(chains)
for _name in (*COMPONENTS, *ARTIFACTS):
    log_of(_name).addFilter(_Named())
read_environment()
sys.modules[__name__].__class__ = _Config
