"""The programs of tools/testing/compile_scenarios as a table: what changes between calls, and what runs then.

What runs is a graph, or the program as it is; then the table says why.

python tools/hold/compile_table.py            prints it
python tools/hold/compile_table.py --write    puts it into docs/compile.md, between its marks
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "testing"))
from compile_scenarios import SCENARIOS

import taeda

PAGE = Path(__file__).parents[2] / "docs" / "compile.md"
BEGIN, END = "<!-- scenarios -->", "<!-- end of scenarios -->"


def outcome(name: str) -> str:
    """ "a graph", or the reason why the program stays as it is."""
    made = []

    def compile(function):
        result = taeda.compile(function)
        made.append(getattr(result, "__taeda_compiled__", None) or result._compiled)
        return result

    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        SCENARIOS[name][1](compile)
    if any(t.trusted for c in made for traces in c.traces.values() for t in traces):
        return "a graph"
    reasons = [re.sub(r" \(.*", "", r) for c in made for r in c.reasons]
    return f"stays as it is: {reasons[0]}"


def table() -> str:
    rows = [(what, outcome(name)) for name, (what, _) in SCENARIOS.items()]
    graphs = sum(found == "a graph" for _, found in rows)
    lines = [
        f"{len(rows)} programs, all of them right after the change; {graphs} run as graphs.",
        "",
        "| what changes between calls | what runs |",
        "|---|---|",
    ]
    return "\n".join([*lines, *(f"| {what} | {found} |" for what, found in rows)])


def page(text: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(PAGE.read_text()))
    else:
        print(table())
