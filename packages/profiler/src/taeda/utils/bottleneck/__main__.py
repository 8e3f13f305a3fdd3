"""The command."""

from __future__ import annotations

import argparse
import sys

from ._report import report

PARSER = argparse.ArgumentParser(
    prog="python -m taeda.utils.bottleneck",
    description="Runs a script under Python's profiler, then under taeda's, and prints what took the time.",
)
PARSER.add_argument("scriptfile", help="the script, which has to end")
PARSER.add_argument("args", nargs=argparse.REMAINDER, help="what the script is given")

if __name__ == "__main__":
    options = PARSER.parse_args()
    sys.exit(report(options.scriptfile, options.args))
