"""Where the output of processes goes: the console, files, or both."""

from __future__ import annotations

import os
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntFlag

__all__ = ["DefaultLogsSpecs", "LogsDest", "LogsSpecs", "Std", "to_map"]


_WORDS = ("0", "1", "2", "3")  # an IntFlag itself takes any number


class Std(IntFlag):
    """Which of a process's two streams: none, out, err, or all (out and err)."""

    NONE = 0
    OUT = 1
    ERR = 2
    ALL = OUT | ERR

    @classmethod
    def from_str(cls, text: str) -> Std | dict[int, Std]:
        """From "3" for all processes, or "0:1,1:2" by local rank. ValueError for anything else.

        >>> Std.from_str("0:3,1:0")
        {0: <Std.ALL: 3>, 1: <Std.NONE: 0>}
        """
        try:
            if ":" not in text:
                return cls(_WORDS.index(text))
            pairs = [part.split(":") for part in text.split(",")]
            return {int(rank): cls(_WORDS.index(value)) for rank, value in pairs}
        except ValueError:
            raise ValueError(f"{text!r} is neither 0, 1, 2, 3 nor of the form 0:3,1:0") from None


def to_map(value: Std | Mapping[int, Std], count: int) -> dict[int, Std]:
    """A value for each of `count` processes; NONE for those that a mapping leaves out.

    >>> to_map({1: Std.OUT}, 2)
    {0: <Std.NONE: 0>, 1: <Std.OUT: 1>}
    """
    if isinstance(value, Std):
        return dict.fromkeys(range(count), value)
    return {rank: value.get(rank, Std.NONE) for rank in range(count)}


@dataclass
class LogsDest:
    """Paths by local rank: '' where a stream goes to the console.

    >>> LogsDest(stdouts={0: "/logs/0/stdout.log", 1: ""}).stdouts[1]  # to the console
    ''
    """

    stdouts: dict[int, str] = field(default_factory=dict)
    stderrs: dict[int, str] = field(default_factory=dict)
    tee_stdouts: dict[int, str] = field(default_factory=dict)
    tee_stderrs: dict[int, str] = field(default_factory=dict)
    error_files: dict[int, str] = field(default_factory=dict)


class LogsSpecs(ABC):
    """How logs are laid out. `redirects` go to files, `tee` to files and the console; a filter
    keeps the console to some ranks.

    >>> class Silent(LogsSpecs):  # what processes print goes nowhere
    ...     root_log_dir = "/dev"
    ...     def reify(self, envs):
    ...         paths = dict.fromkeys(envs, "/dev/null")
    ...         return LogsDest(paths, paths, error_files=paths)
    >>> Silent().reify({0: {}}).stdouts
    {0: '/dev/null'}
    """

    def __init__(
        self,
        log_dir: str | None = None,
        redirects: Std | Mapping[int, Std] = Std.NONE,
        tee: Std | Mapping[int, Std] = Std.NONE,
        local_ranks_filter: set[int] | None = None,
    ) -> None:
        self._root_log_dir, self._redirects, self._tee = log_dir, redirects, tee
        self._local_ranks_filter = local_ranks_filter

    @property
    @abstractmethod
    def root_log_dir(self) -> str:
        """The folder."""

    @abstractmethod
    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        """The paths for the processes with these environments."""

    def release(self) -> None:  # noqa: B027 - most kinds keep what they made
        """All processes have ended, and what they wrote of errors was read."""


class DefaultLogsSpecs(LogsSpecs):
    """Files `<log_dir>/<run id>/attempt_<n>/<local rank>/{stdout.log,stderr.log,error.json}`.

    >>> folder = tempfile.mkdtemp()
    >>> specs = DefaultLogsSpecs(folder, redirects=Std.ERR)
    >>> logs = specs.reify({0: {"TORCHELASTIC_RUN_ID": "job-7"}})
    >>> os.path.relpath(logs.stderrs[0], folder), logs.stdouts[0]
    ('job-7/attempt_0/0/stderr.log', '')
    """

    _temporary = False  # the folder is ours, and has no logs

    @property
    def root_log_dir(self) -> str:
        """The folder, a temporary one if none was given, which stays if there are logs in it."""
        if self._root_log_dir is None:
            self._root_log_dir = tempfile.mkdtemp(prefix="taedarun_")
            self._temporary = True
        return self._root_log_dir

    def reify(self, envs: dict[int, dict[str, str]]) -> LogsDest:
        """Make a folder for each process."""
        dest, count = LogsDest(), len(envs)
        redirects, tees = to_map(self._redirects, count), to_map(self._tee, count)
        for rank, environment in envs.items():
            run = environment.get("TORCHELASTIC_RUN_ID", "run") or "run"
            attempt = environment.get("TORCHELASTIC_RESTART_COUNT", "0")
            folder = os.path.join(self.root_log_dir, run, f"attempt_{attempt}", str(rank))
            os.makedirs(folder, exist_ok=True)
            hidden = self._local_ranks_filter is not None and rank not in self._local_ranks_filter
            streams = (
                (Std.OUT, "stdout", dest.stdouts, dest.tee_stdouts),
                (Std.ERR, "stderr", dest.stderrs, dest.tee_stderrs),
            )
            for std, name, files, tee_files in streams:
                path = os.path.join(folder, f"{name}.log")
                teed = bool(tees[rank] & std)
                files[rank] = path if teed or hidden or redirects[rank] & std else ""
                tee_files[rank] = path if teed and not hidden else ""
            dest.error_files[rank] = os.path.join(folder, "error.json")
        self._temporary &= not any([*dest.stdouts.values(), *dest.stderrs.values()])
        return dest

    def release(self) -> None:
        if self._temporary and self._root_log_dir is not None:
            shutil.rmtree(self._root_log_dir, ignore_errors=True)
            self._root_log_dir, self._temporary = None, False
