"""`taedarun`: start the processes of a program on this machine, and on others with the same command there.

    taedarun --nproc-per-node 4 train.py --lr 0.1
    taedarun --nnodes 2 --node-rank 0 --master-addr 10.0.0.1 --master-port 29500 --nproc-per-node 4 train.py

The program finds RANK, LOCAL_RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT in its environment, so that
`init_process_group()` needs no arguments. When a process fails all are ended, and started again as often as
`--max-restarts` says; the report names the first that failed, with its traceback.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import uuid
from collections.abc import Sequence
from typing import Any

from .elastic.agent.server import LocalElasticAgent, WorkerSpec
from .elastic.agent.server.local_elastic_agent import make_secret
from .elastic.multiprocessing import DefaultLogsSpecs, SignalException, Std
from .elastic.multiprocessing.api import raise_on_signal
from .elastic.multiprocessing.errors import ChildFailedError
from .elastic.rendezvous import RendezvousParameters, get_rendezvous_handler

__all__ = ["get_args_parser", "main", "parse_args", "run"]

_log = logging.getLogger("taedarun")


def get_args_parser() -> argparse.ArgumentParser:
    """The flags.

    >>> words = ["--nproc-per-node", "4", "train.py", "--lr", "0.1"]
    >>> get_args_parser().parse_args(words).training_script_args
    ['--lr', '0.1']
    """
    parser = argparse.ArgumentParser(
        prog="taedarun", description="Start a program on several processes."
    )
    add = parser.add_argument
    add("--nnodes", default="1:1", help="how many machines: N, or MIN:MAX")
    add(
        "--nproc-per-node",
        "--nproc_per_node",
        default="1",
        help="processes on this machine: a number, cpu, auto",
    )
    add("--standalone", action="store_true", help="one machine, which meets itself at a free port")
    add(
        "--rdzv-backend",
        "--rdzv_backend",
        default="static",
        help="how machines meet: static or c10d",
    )
    add("--rdzv-endpoint", "--rdzv_endpoint", default="", help="where machines meet: host:port")
    add("--rdzv-id", "--rdzv_id", default="", help="the name of the job")
    add(
        "--rdzv-conf",
        "--rdzv_conf",
        default="",
        help="more for the rendezvous: key=value,key=value",
    )
    add(
        "--max-restarts",
        "--max_restarts",
        type=int,
        default=0,
        help="how often all processes are started again",
    )
    add(
        "--monitor-interval",
        "--monitor_interval",
        type=float,
        default=0.1,
        help="seconds between looks",
    )
    add(
        "--start-method", "--start_method", default="spawn", choices=("spawn", "fork", "forkserver")
    )
    add("--role", default="default", help="the name of these processes' role")
    add("--log-dir", "--log_dir", default=None, help="the folder of logs and error files")
    add(
        "-r",
        "--redirects",
        default="0",
        help="what goes to files: 0 none, 1 out, 2 err, 3 both; or 0:3,1:0 by rank",
    )
    add("-t", "--tee", default="0", help="what goes to files and the console, in the same form")
    add(
        "--local-ranks-filter",
        "--local_ranks_filter",
        default="",
        help="whose output the console shows: 0,1",
    )
    add(
        "--log-line-prefix-template",
        "--log_line_prefix_template",
        default=None,
        help="with ${role_name}, ${rank}, ${local_rank}",
    )
    add("--node-rank", "--node_rank", type=int, default=0, help="this machine's number, for static")
    add(
        "--master-addr",
        "--master_addr",
        default="127.0.0.1",
        help="the address of machine 0, for static",
    )
    add(
        "--master-port",
        "--master_port",
        type=int,
        default=None,
        help="its port; a free one on a single machine",
    )
    add(
        "--local-addr",
        "--local_addr",
        default=None,
        help="this machine's address, as others reach it",
    )
    add("-m", "--module", action="store_true", help="the program is a module, as for python -m")
    add(
        "--no-python",
        "--no_python",
        action="store_true",
        help="run the program itself, without python",
    )
    add("training_script", help="the program")
    add("training_script_args", nargs=argparse.REMAINDER, help="its arguments")
    return parser


def parse_args(args: Sequence[str] | None = None) -> argparse.Namespace:
    """The flags' values; each may also come from PET_<FLAG> in the environment.

    >>> from unittest import mock
    >>> with mock.patch.dict(os.environ, PET_MAX_RESTARTS="3"):
    ...     options = parse_args(["--nproc-per-node", "4", "train.py"])
    >>> options.max_restarts, options.nproc_per_node, options.training_script
    (3, '4', 'train.py')
    """
    parser = get_args_parser()
    for action in parser._actions:
        name = f"PET_{action.dest.upper()}"
        if (
            action.option_strings
            and name in os.environ
            and not isinstance(action, argparse._HelpAction)
        ):
            text = os.environ[name]
            action.default = text == "1" if isinstance(action, argparse._StoreTrueAction) else text
    return parser.parse_args(args)


def _nodes(text: str) -> tuple[int, int]:
    """At least and at most how many machines."""
    low, _, high = text.partition(":")
    try:
        return int(low), int(high or low)
    except ValueError:
        raise SystemExit(f"taedarun: --nnodes is N or MIN:MAX, not {text!r}") from None


def _processes(text: str) -> int:
    if text in ("cpu", "auto"):
        return os.cpu_count() or 1
    if text in ("gpu", "cuda"):
        raise SystemExit(
            "taedarun: --nproc-per-node gpu: there are no GPUs in this release; give a number or cpu"
        )
    try:
        count = int(text)
    except ValueError:
        raise SystemExit(
            f"taedarun: --nproc-per-node is a number, cpu or auto, not {text!r}"
        ) from None
    if count < 1:
        raise SystemExit(f"taedarun: --nproc-per-node is at least 1, not {count}")
    return count


def _threads(processes: int) -> None:
    """One thread each, unless the user says otherwise: processes would fight for the cores."""
    if processes > 1 and "OMP_NUM_THREADS" not in os.environ:
        os.environ["OMP_NUM_THREADS"] = "1"
        _log.warning(
            "OMP_NUM_THREADS is set to 1 for each process; set it yourself to have more threads"
        )


def _parameters(options: argparse.Namespace) -> RendezvousParameters:
    low, high = _nodes(options.nnodes)
    words: dict[str, Any] = dict(
        part.split("=", 1) for part in options.rdzv_conf.split(",") if "=" in part
    )
    backend, endpoint = options.rdzv_backend, options.rdzv_endpoint
    if options.standalone:
        backend, endpoint, low, high = "static", "127.0.0.1:0", 1, 1
        options.node_rank = 0
    if backend == "static":
        if low != high:
            raise SystemExit("taedarun: --nnodes MIN:MAX needs --rdzv-backend c10d")
        words["rank"] = options.node_rank
        port = (
            options.master_port if options.master_port is not None else (0 if high == 1 else 29500)
        )
        endpoint = endpoint or f"{options.master_addr}:{port}"
    name = options.rdzv_id or (f"taeda_{uuid.uuid4().hex[:8]}" if high == 1 else "none")
    return RendezvousParameters(backend, endpoint, name, low, high, options.local_addr, **words)


def _command(options: argparse.Namespace) -> tuple[str, list[str]]:
    """The program and its arguments."""
    if options.no_python:
        if options.module:
            raise SystemExit("taedarun: --no-python and --module exclude each other")
        return options.training_script, options.training_script_args
    to_files = options.redirects != "0" or options.tee != "0" or options.local_ranks_filter
    words = ["-u"] if to_files or not sys.stdout.isatty() else []  # lines on a terminal stay whole
    if options.module:
        words.append("-m")
    return sys.executable, [*words, options.training_script, *options.training_script_args]


def run(options: argparse.Namespace) -> None:
    """Run the program to its end. ChildFailedError if a process failed and no restart was left.

    >>> run(parse_args(["--standalone", "--no-python", "true"]))
    """
    _, high = _nodes(options.nnodes)
    processes = _processes(options.nproc_per_node)
    _threads(processes)
    if high == 1 or options.standalone:
        make_secret()
    handler = get_rendezvous_handler(_parameters(options))
    program, args = _command(options)
    shown = {int(word) for word in options.local_ranks_filter.split(",") if word} or None
    logs = DefaultLogsSpecs(
        options.log_dir, Std.from_str(options.redirects), Std.from_str(options.tee), shown
    )
    spec = WorkerSpec(
        options.role,
        processes,
        handler,
        entrypoint=program,
        args=tuple(args),
        max_restarts=options.max_restarts,
        monitor_interval=options.monitor_interval,
    )
    agent = LocalElasticAgent(
        spec, logs, options.start_method, log_line_prefix_template=options.log_line_prefix_template
    )
    result = agent.run()
    if result.is_failed():
        raise ChildFailedError(options.training_script, result.failures)


def main(args: Sequence[str] | None = None) -> None:
    """The command. Exit status 1 if a process failed, 128 + n after signal n.

    >>> import contextlib, io
    >>> from unittest import mock
    >>> text, quiet = io.StringIO(), mock.patch.object(logging, "basicConfig")
    >>> with quiet, contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
    ...     main(["--help"])
    >>> text.getvalue()[:15]
    'usage: taedarun'
    """
    logging.basicConfig(format="taedarun: %(message)s", level=logging.INFO)
    options = parse_args(args)
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:  # inherited: exit codes would be lost
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, raise_on_signal)
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:  # exit codes would be lost
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        run(options)
    except SignalException as error:
        print(f"taedarun: ended by {error.sigval.name}", file=sys.stderr)
        sys.exit(128 + error.sigval)
    except ChildFailedError as error:
        print(f"taedarun: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
