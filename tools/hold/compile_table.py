"""The programs of tools/testing/compile_scenarios as a table: what changes between calls, and what runs then.

What runs is a graph, a graph with the last statements as they are, or the program as it is; then the
table says why.

python tools/hold/compile_table.py            prints it
python tools/hold/compile_table.py --write    writes docs/compile-scenarios.md
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from compile_scenarios import FORMS, SCENARIOS

import taeda

PAGE = Path(__file__).parents[2] / "docs" / "compile-scenarios.md"
HEAD = """# Changes between calls, and what runs then

Each program is called, changed around, and called again, compiled and as it is. What it gives must
be equal. Each is compiled in three forms: by itself, in a function that finds it in a container and
calls it, and in a module that has a partial of it. Last statements run as they are only behind a
program that is compiled by itself. `python tools/hold/compile_table.py --write` writes this page;
`packages/compile/tests/compiler/test_scenarios.py` runs the programs. `compile.md` says what
compile does.

"""


def outcome(name: str, form: str) -> str:
    """What runs, or the reason why the program stays as it is."""
    made = []

    def compile(function):
        result = taeda.compile(function)
        made.append(getattr(result, "__taeda_compiled__", None) or result._compiled)
        return result

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SCENARIOS[name][1](FORMS[form](compile))
    if any(t.trusted for c in made for traces in c.traces.values() for t in traces):
        return "a graph"
    if any(t.trusted for c in made if c.split for ts in c.split.head.traces.values() for t in ts):
        return "a graph, and the last statements as they are"
    reasons = [re.sub(r" \(.*", "", r) for c in made for r in c.reasons]
    return f"stays as it is: {reasons[0]}"


def table() -> str:
    rows = [
        (what, [outcome(name, form) for form in FORMS]) for name, (what, _) in SCENARIOS.items()
    ]
    graphs = sum(found[0].startswith("a graph") for _, found in rows)
    lines = [
        f"{len(rows)} programs in {len(FORMS)} forms, all of them right after the change;",
        f"{graphs} of the programs by themselves run as graphs.",
        "",
        f"| what changes between calls | {' | '.join(FORMS)} |",
        "|---" * (len(FORMS) + 1) + "|",
    ]
    return "\n".join([*lines, *(f"| {what} | {_said(found)} |" for what, found in rows)])


def _said(found: list[str]) -> str:
    """What runs in each form; what is as in the first form is said in one word."""
    first, *rest = found
    return " | ".join([first, *("the same" if other == first else other for other in rest)])


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(f"{HEAD}{table()}\n")
    else:
        print(table())
