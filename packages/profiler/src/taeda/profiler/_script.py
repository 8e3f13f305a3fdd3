"""A script that runs within this process, as if it were the program."""

from __future__ import annotations

import os
import sys
import traceback
import types
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

__all__ = ["Script"]


@dataclass(frozen=True)
class Script:
    """A compiled script and its arguments; every run has a fresh `__main__`."""

    path: str
    args: tuple[str, ...]
    code: types.CodeType

    @classmethod
    def read(cls, path: str, args: Sequence[str]) -> Self:
        """SystemExit with a sentence for a file that cannot be read or is no Python."""
        try:
            with open(path, "rb") as file:
                code = compile(file.read(), os.path.abspath(path), "exec", dont_inherit=True)
        except (OSError, SyntaxError, ValueError) as error:
            raise SystemExit(f"{path}: {error}") from error
        return cls(path, tuple(args), code)

    def run(self) -> int:
        """Run it and return its exit code. An exception is printed, and is 1."""
        main = types.ModuleType("__main__")
        main.__file__ = os.path.abspath(self.path)
        main.__dict__["__builtins__"] = __builtins__
        before = sys.argv, list(sys.path), sys.modules["__main__"]
        sys.argv, sys.modules["__main__"] = [self.path, *self.args], main
        sys.path.insert(0, os.path.dirname(os.path.abspath(self.path)))
        try:
            exec(self.code, main.__dict__)
        except SystemExit as end:
            return _code(end.code)
        except Exception:  # noqa: BLE001 - printed, as Python does of a script
            traceback.print_exc()
            return 1
        finally:
            sys.argv, sys.path[:], sys.modules["__main__"] = before
        return 0


def _code(given: Any) -> int:
    if given is None or isinstance(given, int):
        return given or 0
    print(given, file=sys.stderr)
    return 1
