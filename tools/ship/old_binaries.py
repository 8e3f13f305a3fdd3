"""Extensions that were compiled against older headers, in an installed taeda: `old_binaries.py LIBRARY...`.

Each is `packages/core/tests/extensions/scale.c`; release.py compiles them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import taeda
from taeda._native import core


def main(libraries: list[str]) -> None:
    assert "site-packages" in Path(taeda.__file__).parts, (
        f"{taeda.__file__} is not an installed copy"
    )
    x = taeda.tensor([[1.0, 2.0], [3.0, 4.0]]).t()
    for library in libraries:
        kernel = core.load_extension(library)[0]["twice"]
        assert core.call_kernel(kernel, (x,)).tolist() == [[2.0, 6.0], [4.0, 8.0]], library
    print(f"{len(libraries)} extensions run on taeda {taeda.__version__}")


if __name__ == "__main__":
    main(sys.argv[1:])
