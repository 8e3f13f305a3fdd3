"""The workers of a loader as their parent sees them: what each was asked, what came back, and how
it fares.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import time
import weakref
from collections.abc import Iterator
from typing import Any

from taeda._core_api.processes import UNKNOWN, note_end

from . import status
from .channel import Channel
from .member import Member
from .messages import Epoch, Reply, Setup, sample_name
from .start import interrupts_put_off, join_or_kill, start_all
from .worker import GRACE, run_worker

__all__ = ["Crew"]

_PATIENCE = 0.3  # seconds for all workers to write their stacks


class _Exit:
    """A context for talks with workers. When the program ends they are dismissed, and a daemon
    thread that still asks them waits for its end, which is near.
    """

    def __init__(self) -> None:
        self.watched = self.came = False

    def watch(self) -> None:
        """Learn of the end before the workers are dismissed: what was registered last runs first."""
        if not self.watched:
            self.watched = True
            atexit.register(self._note)

    def _note(self) -> None:
        self.came = True

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        while self.came and kind is not None and issubclass(kind, (OSError, EOFError, IndexError)):
            time.sleep(1)


_exit = _Exit()
_crews: weakref.WeakSet[Crew] = weakref.WeakSet()


class Crew:
    """Starts with the object, ends by `dismiss`, or when the object is collected."""

    def __init__(self, context: Any, setups: list[Setup]) -> None:
        self._owner = os.getpid()
        self.members: list[Member] = []
        self._channels: list[Channel] = []
        _crews.add(self)
        # A forked worker holds whatever is open at that moment: one pair at a time, so that nobody
        # holds another's end.
        groups = [[s] for s in setups] if context.get_start_method() == "fork" else [setups]
        self._poll = select.poll()
        # descriptor: worker, and whether it stands for the worker's life
        self._by_fd: dict[int, tuple[int, bool]] = {}
        try:
            for group in groups:
                self._start(context, group)
        except BaseException:
            _dismiss(self._owner, self.members, now=True)
            raise
        self._end = weakref.finalize(self, _collected, self._owner, self.members)
        _exit.watch()

    def _start(self, context: Any, setups: list[Setup]) -> None:
        pairs = [Channel.pair() for _ in setups]
        self._channels += [ours for ours, _ in pairs]
        for setup, (_, theirs) in zip(setups, pairs, strict=True):
            setup.channel = theirs.socket
        try:
            targets = [(run_worker, (setup,)) for setup in setups]
            processes = start_all(context, targets, "taeda-loader")
        except BaseException:
            for ours, _ in pairs:
                ours.close()
            raise
        finally:
            for _, theirs in pairs:
                theirs.close()
        members: list[Member] = []
        try:
            for process, (ours, _) in zip(processes, pairs, strict=True):
                members.append(Member(process, ours))
        except BaseException:
            for ours, _ in pairs:
                ours.close()
            for member in members:
                member.close()
            join_or_kill(processes, 0)
            raise
        for member in members:
            self._enlist(member)

    def _enlist(self, member: Member) -> None:
        worker = len(self.members)
        self.members.append(member)
        for fd, is_life in ((member.channel.fileno(), False), (member.life, True)):
            self._by_fd[fd] = worker, is_life
            self._poll.register(fd, select.POLLIN)

    def begin(self, worker: int, epoch: Epoch) -> None:
        """Let a worker begin an epoch; what it has not begun of the last one is forgotten."""
        self._sending(worker, lambda member: member.begin(epoch))

    def ask(self, worker: int, number: int, index: Any) -> None:
        """Give a worker a task."""
        self._sending(worker, lambda member: member.ask(number, index))

    def _sending(self, worker: int, send: Any) -> None:
        self._check_owner()
        try:
            with _exit:
                send(self.members[worker])
        except ConnectionError:
            raise self._gone(worker) from None

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise RuntimeError(
                "the workers of this loader belong to the process that this one was forked from; "
                "make a new iterator here"
            )

    def unpacked(self, worker: int, reply: Reply) -> Any:
        """The batch that an answer holds."""
        return self.members[worker].unpacked(reply)

    def forget(self, worker: int, reply: Reply) -> None:
        """An answer that nobody wants."""
        self.members[worker].forget(reply)

    def wait(self, seconds: float | None) -> Iterator[tuple[int, Reply]]:
        """Answers that are here, or come within `seconds`. RuntimeError if a worker is gone."""
        self._check_owner()
        milliseconds = None if seconds is None else max(0, seconds) * 1000
        ready = [self._by_fd[fd] for fd, _ in self._poll.poll(milliseconds)]
        talking = [worker for worker, is_life in ready if not is_life]
        for worker in talking:
            try:
                with _exit:
                    reply = self.members[worker].receive()
            except EOFError:
                raise self._gone(worker) from None
            if reply is not None:
                yield worker, reply
        for worker, is_life in ready:
            if is_life and worker not in talking:  # its last words have been heard
                raise self._gone(worker)

    def dismiss(self, now: bool = False) -> None:
        """End the workers: after the sample each is at, or at once."""
        with interrupts_put_off(aside=False):
            if self._end.detach():
                _dismiss(self._owner, self.members, now)

    def _close(self) -> None:
        for channel in self._channels:
            channel.close()

    # ---- how they fare ----

    def _gone(self, worker: int) -> RuntimeError:
        member = self.members[worker]
        member.hear_hello()
        member.process.join(1)
        note_end(member.process)
        stack = member.status.stack() if member.status else ""
        error = RuntimeError(
            f"DataLoader worker (pid(s) {member.pid}) exited unexpectedly: worker {worker} "
            f"{_ending(member.process.exitcode)} {self._doing(worker)}"
            + (f"\n{stack}" if stack else "")
        )
        self.dismiss(now=True)
        return error

    def _doing(self, worker: int) -> str:
        """Words for what a worker was last seen at."""
        member = self.members[worker]
        if member.status is None:
            return "while it started: before it had loaded the data set"
        number, phase, position = member.status.now
        task = next((task for task in member.asked if task.number == number), None)
        if phase == status.STARTING:
            return "in worker_init_fn or before"
        if phase == status.BETWEEN or task is None:
            return "between two batches"
        where = {status.COLLATING: "in collate_fn", status.SENDING: "while sending"}
        name = sample_name(task.index, position if phase == status.FETCHING else -1)
        return f"{where.get(phase, 'at')} {name} of batch {number}"

    def report(self) -> str:
        """A line for each worker with what it is at, and its Python stack."""
        asked = [self._ask_for_stack(member) for member in self.members]
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end and not all(map(_answered, self.members, asked)):
            time.sleep(0.01)
        return "\n".join(self._report(i, since) for i, since in enumerate(asked))

    def _ask_for_stack(self, member: Member) -> int | None:
        """Where the stack will stand; None if the worker is dead, or not yet able to write one."""
        note_end(member.process)
        if member.status is None or not member.process.is_alive():
            return None
        return member.status.ask_for_stack(member.pid)

    def _report(self, worker: int, since: int | None) -> str:
        member = self.members[worker]
        if not member.process.is_alive():
            return f"worker {worker} {_ending(member.process.exitcode)} {self._doing(worker)}"
        line = f"worker {worker} (pid {member.pid}) {self._doing(worker)}"
        if since is None or member.status is None:
            return line
        return f"{line}\n{member.status.stack(since) or '(gives no stack)'}"


def _answered(member: Member, since: int | None) -> bool:
    return since is None or member.status is None or member.status.answered(since)


def _ending(code: int | None) -> str:
    if code is None:
        return "closed its channel"
    if code == UNKNOWN:
        return "ended, how is not known as SIGCHLD is ignored,"
    if code >= 0:
        return f"exited with code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    hint = " (the system's way to end a process when memory is out)" if name == "SIGKILL" else ""
    return f"was ended by {name}{hint}"


def _collected(owner: int, members: list[Member]) -> None:
    with interrupts_put_off(aside=True):
        _dismiss(owner, members)


def _dismiss(owner: int, members: list[Member], now: bool = False) -> None:
    # a forked copy of the object is collected: the workers are not its own
    if os.getpid() != owner:
        return
    for member in members:
        member.channel.close()
        note_end(member.process)
        if now and member.process.is_alive():
            member.process.kill()
    try:
        join_or_kill([member.process for member in members], GRACE / 2)
    finally:
        _close_all(members)


def _close_all(members: list[Member]) -> None:
    """Give back what tells of each worker, whatever fails at another."""
    errors = []
    for member in members:
        for close in (member.process.close, member.close):
            try:
                close()
            except (ValueError, OSError) as error:
                errors.append(error)
    members.clear()
    if errors:
        raise errors[0]


# ---- forks of the parent ----


def _before_fork() -> None:
    for crew in list(_crews):
        for member in crew.members:
            member.keep_lent()


def _in_child() -> None:
    """A child holds no end of another process's channels, so that their workers see when the parent
    is gone.
    """
    for crew in list(_crews):
        crew._close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_in_child)
