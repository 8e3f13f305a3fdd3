"""`python -m taeda.profiler script.py args`: run a script, and leave profile.html."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from taeda._core_api.files import atomic_write

from ._merge import main as merge
from ._page import page
from ._report import report
from ._script import Script
from ._watch import Watch

PARSER = argparse.ArgumentParser(
    prog="python -m taeda.profiler",
    description="Runs a script and writes what took its time, and what it wastes, as one page of HTML. "
    "`python -m taeda.profiler merge` puts traces of several processes into one.",
)
PARSER.add_argument("--out", default="profile.html", help="the page (default: profile.html)")
PARSER.add_argument("scriptfile", help="the script, which has to end")
PARSER.add_argument("args", nargs=argparse.REMAINDER, help="what the script is given")


def main(words: Sequence[str] | None = None) -> int:
    """The exit code of the script; what ran until an exception is shown too."""
    words = sys.argv[1:] if words is None else words
    if words and words[0] == "merge" and not os.path.exists("merge"):
        return merge(words[1:])
    options = PARSER.parse_args(words)
    script, watch = Script.read(options.scriptfile, options.args), Watch()
    out = os.path.abspath(options.out)  # the script may go elsewhere
    with watch.watching_program():
        start = watch.clock()
        code = script.run()
        took = watch.clock() - start
    watch.finish(took)
    with atomic_write(out) as file:
        file.write(
            page(report(os.path.basename(options.scriptfile), watch.ranges, (), watch, took))
        )
    print(f"{out}: what took the {took / 1e9:.1f} s, and what to change", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
