"""Loggers of compiled functions: components with a level each, artifacts that are on or off."""

from __future__ import annotations

import importlib.util
import logging
import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["ARTIFACTS", "COMPONENTS", "log_of", "read_environment", "set_logs", "tell_of"]

COMPONENTS = {
    "dynamo": "taeda.compiler",
    "aot": "taeda.compiler.joint",
    "inductor": "taeda.compiler.choice",
}
ARTIFACTS = ("graph", "graph_breaks", "guards", "recompiles")
# PyTorch's own parts, of which there is no counterpart: programs that name them go on
_ELSEWHERE = frozenset(
    "bytecode aot_graphs aot_joint_graph compiled_autograd ddp_graphs distributed dtensor export fsdp "
    "fusion graph_code graph_sizes output_code perf_hints post_grad_graphs schedule trace_source".split()
)
_PREFIXES = {"+": logging.DEBUG, "-": logging.ERROR}


class _Stderr(logging.StreamHandler):  # type: ignore[type-arg]
    """To the stderr of the moment, unless the program has handlers of its own."""

    def emit(self, record: logging.LogRecord) -> None:
        if not _handlers_of_the_program():
            self.stream = sys.stderr
            super().emit(record)


def _handlers_of_the_program() -> list[logging.Handler]:
    return logging.root.handlers


_HANDLER = _Stderr()
_HANDLER.setFormatter(logging.Formatter("%(name)s: %(message)s"))
_set: dict[str, logging.Logger] = {}  # by name, those that set_logs gave a level


def log_of(name: str) -> logging.Logger:
    """The logger of a component or of an artifact."""
    return logging.getLogger(COMPONENTS.get(name, f"taeda.compiler.{name}"))


def tell_of(name: str, trace: Any, changes: str) -> None:
    """Say what is to be said of a new graph of `name`; `changes`: why the ones before do not fit."""
    if changes:
        log_of("recompiles").debug("%s gets another graph: %s", name, changes)
    if trace.backward:
        log_of("aot").debug("%s: the graph holds its gradient, too", name)
    if log_of("graph").isEnabledFor(logging.DEBUG):
        lines = [f"    {step.op}{step.line and f'    # {step.line}'}" for step in trace.plan.steps]
        log_of("graph").debug("\n".join([f"{name}: {len(lines)} operations", *lines]))
    if log_of("guards").isEnabledFor(logging.DEBUG):
        lines = [f"    {guard}" for guard in trace.descriptions]
        log_of("guards").debug("\n".join([f"{name}: {len(lines)} guards", *lines]))


def set_logs(
    *,
    all: int | None = None,
    dynamo: int | None = None,
    aot: int | None = None,
    inductor: int | None = None,
    graph: bool = False,
    graph_breaks: bool = False,
    guards: bool = False,
    recompiles: bool = False,
    modules: Mapping[str, int | bool] | None = None,
) -> None:
    """Which parts say what; what an earlier call set is forgotten.

    Levels are those of `logging`. `modules` gives a level, or for an artifact a bool, by name. Raises
    ValueError for a level that is none, for an artifact that is not on or off, and for an unknown
    name in `modules`; ModuleNotFoundError for a dotted name whose package does not exist.

    >>> import logging
    >>> set_logs(dynamo=logging.INFO, guards=True)
    >>> logging.getLogger("taeda.compiler").level == logging.INFO
    True
    >>> set_logs()
    """
    wanted: dict[str, int | bool] = {}
    levels = {"dynamo": dynamo, "aot": aot, "inductor": inductor}
    for name, level in levels.items():
        if level is not None or all is not None:
            wanted[name] = all if level is None else level  # type: ignore[assignment]
    flags = (graph, graph_breaks, guards, recompiles)
    wanted.update({name: on for name, on in zip(ARTIFACTS, flags, strict=True) if on is not False})
    wanted.update(modules or {})
    for name, value in wanted.items():
        _check(name, value)
    _apply(wanted)


def _check(name: str, value: int | bool) -> None:
    if name in ARTIFACTS:
        if not isinstance(value, bool):
            raise ValueError(f"set_logs: {name} is True or False, got {value!r:.60}")
        return
    if isinstance(value, bool) or value not in logging.getLevelNamesMapping().values():
        raise ValueError(f"set_logs: {name} wants a level such as logging.DEBUG, got {value!r:.60}")
    if name not in COMPONENTS:
        _check_module(name)


def _check_module(name: str) -> None:
    if "." not in name:
        known = ", ".join((*COMPONENTS, *ARTIFACTS))
        raise ValueError(f"set_logs: no component or artifact {name!r}; there are {known}")
    package = name.partition(".")[0]
    if package not in sys.modules and importlib.util.find_spec(package) is None:
        raise ModuleNotFoundError(f"set_logs: no package {package!r}, of which {name!r} is a part")


def _apply(wanted: Mapping[str, int | bool]) -> None:
    for logger in _set.values():
        logger.setLevel(logging.NOTSET)
        logger.removeHandler(_HANDLER)
    _set.clear()
    for name, value in wanted.items():
        logger = log_of(name) if name in (*COMPONENTS, *ARTIFACTS) else logging.getLogger(name)
        logger.setLevel(
            value if name not in ARTIFACTS else logging.DEBUG if value else logging.CRITICAL
        )
        _set[logger.name] = logger
    for logger in _outermost(_set.values()):
        logger.addHandler(_HANDLER)


def _outermost(loggers: Iterable[logging.Logger]) -> list[logging.Logger]:
    """Those without another of them above: a line goes up through all handlers."""
    names = {logger.name for logger in loggers}

    def is_below(name: str) -> bool:
        parts = name.split(".")
        return any(".".join(parts[:i]) in names for i in range(1, len(parts)))

    return [logger for logger in loggers if not is_below(logger.name)]


def read_environment() -> None:
    """Do what `TAEDA_LOGS` or `TORCH_LOGS` asks for. ValueError for an unknown name."""
    text = os.environ.get("TAEDA_LOGS") or os.environ.get("TORCH_LOGS") or ""
    wanted: dict[str, int | bool] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        name = entry.lstrip("+-")
        level = _PREFIXES.get(entry[0], logging.INFO)
        if name in _ELSEWHERE:
            logging.getLogger("taeda.compiler").warning("TAEDA_LOGS: there is no %s here", name)
        elif name in ARTIFACTS:
            wanted[name] = True
        elif name == "all":
            wanted = {**dict.fromkeys(COMPONENTS, level), **wanted}
        else:
            wanted[name] = level
    if wanted:
        for name, value in wanted.items():
            _check(name, value)
        _apply(wanted)
