"""A disk that fails on purpose: what is left of a file when the system refuses, tears or kills a write?

    with faults.failing("write", errno.ENOSPC, at=2):
        taeda.save(state, "model.pt")        # OSError, and model.pt is as it was

Everything this library writes goes through one object (`taeda._io.disk`); these functions put another in
its place, in all threads, until the `with` block ends. Operations are counted from 0.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from taeda._io.disk import Disk, replaced

__all__ = ["OPERATIONS", "Step", "failing", "killed", "power_cuts", "recorded", "torn"]

#: what a write consists of, in the order in which it begins to happen
OPERATIONS = ("create", "write", "copy_rights", "sync", "rename", "sync_folder", "remove")


class _Watched(Disk):
    """Calls `before(operation, arguments)` ahead of each operation."""

    def __init__(self, before: Callable[[str, tuple[object, ...]], object]) -> None:
        self.before = before

    def __getattribute__(self, name: str) -> object:
        real = super().__getattribute__(name)
        if name not in OPERATIONS:
            return real

        def watched(*arguments: object) -> object:
            self.before(name, arguments)
            return real(*arguments)

        return watched


@contextlib.contextmanager
def failing(operation: str, error: int, at: int = 0, times: int = 1) -> Iterator[None]:
    """Let an operation fail with an errno: the `at`-th of its kind, and the following, `times` in all.

    `operation` is one of OPERATIONS, or "any".

    >>> import errno, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, failing("write", errno.ENOSPC):
    ...     try:
    ...         taeda.save(taeda.ones(2), os.path.join(folder, "x.pt"))
    ...     except OSError as error:
    ...         error.errno == errno.ENOSPC, os.listdir(folder)
    (True, [])
    """
    if operation not in (*OPERATIONS, "any"):
        raise ValueError(f"wanted one of {', '.join(OPERATIONS)} or any, got {operation!r}")
    seen = 0

    def before(name: str, arguments: tuple[object, ...]) -> None:
        nonlocal seen
        if operation in (name, "any"):
            seen += 1
            if at < seen <= at + times:
                raise OSError(error, os.strerror(error))

    with replaced(_Watched(before)):
        yield


@contextlib.contextmanager
def torn(most: int) -> Iterator[None]:
    """Let each write take at most `most` bytes, as a system may.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, torn(1000):  # in many small parts
    ...     taeda.save(taeda.ones(2), os.path.join(folder, "x.pt"))
    ...     taeda.load(os.path.join(folder, "x.pt")).tolist()
    [1.0, 1.0]
    """

    class Torn(Disk):
        def write(self, descriptor: int, data: memoryview) -> int:
            return super().write(descriptor, data[:most])

    with replaced(Torn()):
        yield


@contextlib.contextmanager
def killed(after_bytes: int | None = None, at: int | None = None) -> Iterator[None]:
    """End this process as by `kill -9`: after so many bytes are written, or ahead of the `at`-th
    operation.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, killed(after_bytes=10**6):  # this file is smaller
    ...     taeda.save(taeda.ones(2), os.path.join(folder, "x.pt"))
    """

    class Killed(_Watched):
        def __init__(self) -> None:
            super().__init__(self.count)
            self.operations, self.left = 0, after_bytes

        def count(self, name: str, arguments: tuple[object, ...]) -> None:
            if self.operations == at:
                os.kill(os.getpid(), signal.SIGKILL)
            self.operations += 1

        def write(self, descriptor: int, data: memoryview) -> int:
            if self.left is not None and data.nbytes >= self.left:
                os.write(descriptor, data[: self.left])
                os.kill(os.getpid(), signal.SIGKILL)
            if self.left is not None:
                self.left -= data.nbytes
            return super().write(descriptor, data)

    with replaced(Killed()):
        yield


# ---- power cuts ----


@dataclass(frozen=True)
class Step:
    """An operation that was done: on which file, where, with which bytes.

    >>> Step("rename", "x.pt.part", target="x.pt").target
    'x.pt'
    """

    operation: str
    path: str
    offset: int = 0
    data: bytes = b""
    target: str = ""


@contextlib.contextmanager
def recorded() -> Iterator[list[Step]]:
    """The operations that are done inside the block.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder, recorded() as steps:
    ...     taeda.save(taeda.ones(2), os.path.join(folder, "x.pt"))
    >>> steps[0].operation, "rename" in [step.operation for step in steps]
    ('create', True)
    """
    steps: list[Step] = []
    paths: dict[int, str] = {}

    class Recorded(Disk):
        def create(self, path: str, mode: int) -> int:
            descriptor = super().create(path, mode)
            paths[descriptor] = path
            steps.append(Step("create", path))
            return descriptor

        def write(self, descriptor: int, data: memoryview) -> int:
            offset = os.lseek(descriptor, 0, os.SEEK_CUR)
            done = super().write(descriptor, data)
            steps.append(Step("write", paths[descriptor], offset, bytes(data[:done])))
            return done

        def sync(self, descriptor: int) -> None:
            super().sync(descriptor)
            steps.append(Step("sync", paths[descriptor]))

        def rename(self, old: str, new: str) -> None:
            super().rename(old, new)
            steps.append(Step("rename", old, target=new))

        def sync_folder(self, folder: str) -> None:
            super().sync_folder(folder)
            steps.append(Step("sync_folder", folder))

    with replaced(Recorded()):
        yield steps


def power_cuts(
    steps: list[Step], before: dict[str, bytes]
) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Folders that a power cut during `steps` may leave, each with a name: {path: content}.

    `before` is the folder at the beginning. What was synced is there. Of what was not, each state
    has a part: nothing, all, only the odd or the even writes, or as many zeros; and renames that no
    folder sync confirmed have happened or not.

    >>> steps = [Step("create", "a"), Step("write", "a", data=b"new"), Step("rename", "a", target="b")]
    >>> left = {state["b"] for _, state in power_cuts(steps, {"b": b"old"})}
    >>> b"new" in left, b"" in left  # it may be lost: the file was not synced before
    (True, True)
    """
    for cut in range(len(steps) + 1):
        for loss in ("none", "all", "odd", "even", "zeros"):
            for renamed in (False, True):
                folder = _after(steps[:cut], before, loss, renamed)
                yield f"cut {cut}, lost {loss}, renamed {renamed}", folder


def _after(
    steps: list[Step], before: dict[str, bytes], loss: str, renamed: bool
) -> dict[str, bytes]:
    folder = {path: bytearray(content) for path, content in before.items()}
    last_sync = {step.path: i for i, step in enumerate(steps) if step.operation == "sync"}
    confirmed = max((i for i, s in enumerate(steps) if s.operation == "sync_folder"), default=-1)
    for place, step in enumerate(steps):
        if step.operation == "create":
            folder[step.path] = bytearray()
        elif step.operation == "write":
            kept = place < last_sync.get(step.path, -1)
            _apply(folder[step.path], step, "none" if kept else loss, place)
        elif step.operation == "rename" and (renamed or place < confirmed):
            folder[step.target] = folder.pop(step.path)
    return {path: bytes(content) for path, content in folder.items()}


def _apply(content: bytearray, step: Step, loss: str, place: int) -> None:
    end = step.offset + len(step.data)
    if loss == "all" or (loss == "odd" and place % 2) or (loss == "even" and not place % 2):
        return
    content.extend(bytes(max(0, end - len(content))))
    content[step.offset : end] = bytes(len(step.data)) if loss == "zeros" else step.data
