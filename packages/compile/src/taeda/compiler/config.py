"""Settings of `taeda.compiler`, as attributes.

    job_id    what this process is a part of; lines of the logger `taeda.compiler` begin with it

It is a string, or None as at first, unless the environment variable `TAEDA_COMPILE_JOB_ID` says
another. Many processes that write to one log are told apart by it, and attempts of one job are
found together. Nothing is kept from one process to the next, so it changes no graph. Another name,
or a value of another type, is refused: nothing would act on it.

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

__all__ = ["job_id"]

job_id: str | None = os.environ.get("TAEDA_COMPILE_JOB_ID") or None


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
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{name} is a string or None, got {value!r:.60}")
        super().__setattr__(name, value)


for _name in (*COMPONENTS, *ARTIFACTS):
    log_of(_name).addFilter(_Named())
read_environment()
sys.modules[__name__].__class__ = _Config
