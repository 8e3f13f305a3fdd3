"""An extension in plain C, and programs that build it."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path

PLAIN_C = """
#include <taeda/abi.h>
static const taeda_api *api;
static int32_t answer(const taeda_call *call)
{{
    int32_t code = api->empty(TAEDA_FLOAT32, 0, (int64_t[1]){{0}}, 1, &call->outputs[0], call->error);
    taeda_facts facts = {{.size = sizeof facts}};
    if (code) return code;
    api->facts(call->outputs[0], &facts);
    *(float *)facts.data = {answer};
    return 0;
}}
uint32_t taeda_ext_abi(void) {{ return TAEDA_ABI; }}
int32_t taeda_ext_init(const taeda_api *given)
{{
    api = given;
    return api->register_kernel("answer", 0, 1, answer, 0);
}}
"""


def write(path: Path, answer: object = 1) -> str:
    """The extension as a file: its function gives `answer`."""
    path.write_text(PLAIN_C.format(answer=answer))
    return str(path)


def code(body: str) -> list[str]:
    """A command that runs a piece of Python with `load`."""
    head = "from taeda.utils.cpp_extension import load, load_inline"
    return [sys.executable, "-c", f"{head}\n{textwrap.dedent(body)}"]
