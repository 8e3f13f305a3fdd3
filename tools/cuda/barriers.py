"""Barriers that only some threads of a block reach, in the PTX of kernels.

`bar.sync` must be reached by all threads of a warp together. A branch whose condition depends on the
thread's number splits a warp until the branch's ways meet again (its immediate postdominator); a barrier in
between is undefined, even if each way has one. What depends on the thread: `%tid` and `%laneid`, what is
computed from them or loaded from such addresses, and registers written on a split way.

Parameters of functions that are not inlined count as the same for all threads.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["divergent"]

REGISTER = re.compile(r"%[a-z]+\d+|%tid\.\w+|%laneid|\bparam\d+\b|\bretval\d+\b")
OWN = ("%tid", "%laneid")  # differ between the threads of a warp
LOCAL = "(local memory)"


@dataclass
class Block:
    lines: list[str] = field(default_factory=list)
    next: list[str] = field(default_factory=list)
    condition: str = ""  # the predicate that chooses between two


def divergent(ptx: str) -> list[str]:
    """A line for each barrier that a split warp may reach: the function and the instruction's place."""
    bodies = functions(ptx)
    waits = {name for name, body in bodies.items() if "bar.sync" in body or "barrier.sync" in body}
    return [fault for name, body in bodies.items() for fault in faults(name, body, waits)]


def functions(ptx: str) -> dict[str, str]:
    """The body of each function by its name."""
    found = {}
    for match in re.finditer(r"\.(?:entry|func)\b[^{;]*?(\w+)\s*\([^{;]*?\)[^{;]*\{", ptx):
        end, depth = match.end(), 1
        while depth:
            depth += {"{": 1, "}": -1}.get(ptx[end], 0)
            end += 1
        found[match[1]] = ptx[match.end() : end - 1]
    return found


def blocks_of(body: str) -> dict[str, Block]:
    """Basic blocks by their label, in order; the last goes to `exit`."""
    blocks, now = {"entry": Block()}, "entry"
    for number, text in enumerate(re.findall(r"\$\w+:|[^;{}:]+;", re.sub(r"//.*", "", body))):
        line = text.strip()
        block = blocks[now]
        if line.endswith(":"):
            label = line[:-1]
            block.next.append(label)
        elif re.match(r"(@!?%p\d+ )?\s*(bra|ret|exit|trap)", line):
            jump = re.search(r"bra(?:\.uni)?\s+(\$\w+)", line)
            block.next.append(jump[1] if jump else "exit")
            label = f"after {number}"
            if line.startswith("@"):
                block.condition = line.split()[0].lstrip("@!")
                block.next.append(label)
        else:
            block.lines.append(line)
            continue
        blocks[label] = blocks.get(label, Block())
        now = label
    blocks[now].next.append("exit")
    blocks["exit"] = Block()
    return blocks


def postdominators(blocks: dict[str, Block]) -> dict[str, set[str]]:
    """Of each block, the blocks that every way from it to the end passes, itself included."""
    every = set(blocks)
    found = {name: {"exit"} if name == "exit" else every for name in blocks}
    changed = True
    while changed:
        changed = False
        for name in reversed(blocks):
            if name == "exit":
                continue
            after = [found[k] for k in blocks[name].next]
            made = {name} | set.intersection(*after) if after else {name}
            changed |= made != found[name]
            found[name] = made
    return found


def region(start: str, blocks: dict[str, Block], after: dict[str, set[str]]) -> set[str]:
    """The blocks between a branch and the place where its ways meet."""
    meeting = set.intersection(*(after[k] for k in blocks[start].next))
    seen: set[str] = set()
    left = list(blocks[start].next)
    while left:
        name = left.pop()
        if name in seen or name in meeting:
            continue
        seen.add(name)
        left += blocks[name].next
    return seen


def parts(line: str) -> tuple[list[str], list[str]]:
    """Registers that an instruction writes, and those that it reads."""
    words = REGISTER.findall(line)
    if re.match(r"(@\S+\s+)?(st|red|bar|barrier|membar|fence)\.", line):
        if ".local" in line.split()[0]:
            return [LOCAL], words
        if line.startswith("st.param"):
            return words[:1], words[1:]
        return [], words
    if line.startswith("call"):
        results = [w for w in words if w.startswith("retval")]
        return results, [w for w in words if not w.startswith("retval")]
    if line.startswith("@"):
        words = words[1:] + words[:1]
    written = 1
    if group := re.match(r"\S+\s+\{([^}]*)\}", line):
        written = len(REGISTER.findall(group[1]))
    elif re.match(r"setp\.\S+\s+\S+\|", line):
        written = 2
    reads = words[written:] + ([LOCAL] if line.startswith("ld.local") else [])
    return words[:written], reads


def split_blocks(blocks: dict[str, Block]) -> set[str]:
    """The blocks that a part of a warp may be in alone."""
    after = postdominators(blocks)
    differs: set[str] = set()
    split: set[str] = set()
    while True:
        before = len(differs), len(split)
        for name, block in blocks.items():
            for line in block.lines:
                written, read = parts(line)
                if name in split or any(r in differs or r.startswith(OWN) for r in read):
                    differs.update(written)
            if block.condition in differs and len(set(block.next)) > 1:
                split |= region(name, blocks, after)
        if (len(differs), len(split)) == before:
            return split


def faults(name: str, body: str, waits: set[str]) -> list[str]:
    blocks = blocks_of(body)
    split = split_blocks(blocks)
    found = []
    for label in blocks:
        for line in blocks[label].lines if label in split else ():
            called = (
                re.match(r"call\S*\s.*?(\w+)\s*,?\s*\(", line) if line.startswith("call") else None
            )
            if re.search(r"\bbar(rier)?\.sync", line) or (called and called[1] in waits):
                found.append(f"{name}: {line} in a part of a warp ({label})")
    return found
