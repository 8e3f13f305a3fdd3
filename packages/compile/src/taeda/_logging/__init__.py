"""What compiled functions say while they work, to stderr: which parts and which details.

The environment variable `TAEDA_LOGS` (or `TORCH_LOGS`) says it before a program begins, as names
with commas between: `TAEDA_LOGS="+dynamo,guards"`. A component alone logs from INFO on, with `+` from
DEBUG, with `-` from ERROR; without a word it is WARNING. The name of an artifact switches it on.

| component | is |
|---|---|
| `all` | every component that is not named beside it |
| `dynamo` | recording of calls: graphs, guards, what stays eager and why |
| `aot` | graphs that hold their gradient, too |
| `inductor` | the choice between a graph and the program itself, by time |
| `a.module` | the logger of any module |

| artifact | is |
|---|---|
| `graph` | the operations of a new graph, with the line of the program behind each |
| `guards` | what has to stay as it is for a graph to be used |
| `recompiles` | why a call got another graph |
| `graph_breaks` | why a call stays eager |

Artifacts are said where `dynamo` stands at DEBUG, too. If the root logger has handlers, they get the
lines, and stderr does not.
"""

from __future__ import annotations

from taeda.compiler._logs import set_logs

__all__ = ["set_logs"]
