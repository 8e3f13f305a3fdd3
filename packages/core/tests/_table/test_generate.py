"""The table is read whole, also by threads that come while another one reads."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import threading
import taeda
from taeda._table import {family}
from taeda._table._generate import rows
barrier, lengths = threading.Barrier(4), []
def ask(name):
    barrier.wait()
    lengths.append(len(rows()))
    getattr(taeda.ops.aten, name).default
threads = [threading.Thread(target=ask, args=(name,)) for name in ("detach", "relu", "mm", "exp")]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(set(lengths)) == 1 and len(lengths) == 4, lengths
assert lengths[0] > 500 and len({{row.schema.qualified for row in rows()}}) == lengths[0], lengths
"""


def test_threads_get_all_rows_though_one_family_was_imported_before():
    for family in ("optim", "view"):
        code = PROGRAM.format(family=family)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr
