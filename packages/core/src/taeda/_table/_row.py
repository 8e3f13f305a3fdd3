"""How a row of the op table is written, and the table that the rows make.

    op("exp(Tensor self) -> Tensor", pointwise="float", variants="function method inplace out",
       doc="Raise e to each element.")

A row says where its implementation is: `pointwise` (elementwise loops found by name), `c` (the C
function td_op_<c>), `python` (a function in taeda/_numpy/<family>.py), or `composite`
(taeda/_composite/<family>.py, written in other ops). `loop` names the loops where they have another
name than the row; `check` what a pointwise row refuses before it computes, or where its dtypes
leave the common rule: td_row_check_<check> of csrc/ops/pointwise/checks.c.

What a row says of the operation holds for who transforms programs, and
`tests/_table/test_columns.py` proves it by calls:

- the schema: `Tensor(a!)` is written, a result `Tensor(a)` may share the memory of the argument
  `Tensor(a)` (a call may also copy);
- `random`: calls may draw from a generator; no other row does;
- `reads_value`: the shape of the result, or whether there is one, depends on elements, so that a
  tensor without values is refused: "always", or "sometimes", for some arguments;
- `autocast`: on the cpu the row computes in the "lower" type, in "float32", or in the widest type
  of its arguments ("promote"); "" takes what it is given, and a composite hands it on to the
  operations it is written in; on cuda `_layers/_cuda_casts.py` says it;
- `names`: what becomes of the names of dimensions (`taeda/_names/rules.py`), a word of `NAMES`; of
  a pointwise row without one "keep" or "unify", by how many tensors it takes. Rows without a word
  refuse tensors with names;
- `since`: the number of the operator set (`OPSET`) in which the row got its present meaning. A row
  whose meaning changes gets the next.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from ._schema import Schema, SchemaError, parse_schema

__all__ = ["CASTS", "NAMES", "OPSET", "PROMOTIONS", "READS", "TABLE", "Row", "op"]

PROMOTIONS = ("same", "float", "compare", "bool", "real", "first")
VARIANTS = {"function", "method", "inplace", "out"}
READS = ("", "sometimes", "always")
CASTS = ("", "lower", "float32", "promote")
NAMES = ("", "keep", "match", "unify", "drop", "squeeze", "contract", "permute", "expand", "add", "select",
         "none", "make")  # fmt: skip
#: the operator set that this table is
OPSET = 1


@dataclass(frozen=True)
class Row:
    """One overload of one operation."""

    schema: Schema
    family: str
    kind: str  # pointwise, c, python, composite
    target: str  # loop name, C stem or Python function
    loop: str  # name of the loops that a row in C runs, "" for none
    check: str  # what a pointwise row asks before it computes
    promotion: str
    cost: float
    variants: frozenset[str]
    namespace: str
    aliases: tuple[str, ...]
    numbers: frozenset[str]  # Tensor arguments that accept a Python number
    view: bool
    writes_out: bool
    random: bool
    reads_value: str  # one of READS
    since: int
    autocast: str  # one of CASTS
    names: str  # one of NAMES
    any_device: bool  # the implementation reaches elements through the device's table only
    tags: frozenset[str]
    doc: str

    @property
    def rounds_numbers(self) -> bool:
        """Is a number beside short floats rounded to them before the loop runs?"""
        return "rounds_numbers" in self.tags or self.promotion in ("compare", "bool")


TABLE: list[Row] = []

#: TD_MAX_ARGS of runtime/op.h, to which C compilers hold nobody
MOST_ARGUMENTS = 16


def op(
    schema: str,
    *,
    doc: str,
    pointwise: str = "",
    c: str = "",
    python: bool = False,
    composite: bool = False,
    loop: str = "",
    check: str = "",
    cost: float = 1.0,
    variants: str = "function method",
    namespace: str = "",
    aliases: str = "",
    numbers: str | None = None,
    view: bool = False,
    writes_out: bool | None = None,
    random: bool = False,
    reads_value: str = "",
    since: int = 1,
    autocast: str = "",
    names: str = "",
    device: str = "",
    tags: str = "",
) -> None:
    """Add one row; the family is the name of the file that calls."""
    parsed = parse_schema(schema)
    kinds = [
        k
        for k, v in (
            ("pointwise", pointwise),
            ("c", c),
            ("python", python),
            ("composite", composite),
        )
        if v
    ]
    if len(kinds) != 1:
        raise SchemaError(
            f"{parsed.qualified}: name exactly one of pointwise, c, python, composite; got {kinds}"
        )
    if len(parsed.arguments) > MOST_ARGUMENTS:
        raise SchemaError(
            f"{parsed.qualified}: {len(parsed.arguments)} arguments, and a call has room for {MOST_ARGUMENTS}"
        )
    words = frozenset(variants.split())
    if words - VARIANTS:
        raise SchemaError(f"{parsed.qualified}: unknown variants {sorted(words - VARIANTS)}")
    if pointwise and pointwise not in PROMOTIONS:
        raise SchemaError(f"{parsed.qualified}: promotion {pointwise!r} is none of {PROMOTIONS}")
    if (check and not pointwise) or (loop and not (pointwise or c)):
        raise SchemaError(
            f"{parsed.qualified}: check={check!r} and loop={loop!r} are for rows with loops"
        )
    if device not in ("", "any") or (device and not (c or python)):
        raise SchemaError(
            f"{parsed.qualified}: device={device!r}; a row with c= or python= may say device='any'"
        )
    if reads_value not in READS:
        raise SchemaError(f"{parsed.qualified}: reads_value={reads_value!r} is none of {READS}")
    if autocast not in CASTS:
        raise SchemaError(f"{parsed.qualified}: autocast={autocast!r} is none of {CASTS}")
    if names not in NAMES:
        raise SchemaError(f"{parsed.qualified}: names={names!r} is none of {NAMES}")
    if not 1 <= since <= OPSET:
        raise SchemaError(f"{parsed.qualified}: since={since} is no operator set from 1 to {OPSET}")
    tensors = [a.name for a in parsed.arguments if a.is_tensor and not a.is_list]
    accepted = tensors[1:] if numbers is None and pointwise else (numbers or "").split()
    python_name = parsed.qualified.replace(".", "_")
    TABLE.append(
        Row(
            schema=parsed,
            family=Path(sys._getframe(1).f_code.co_filename).stem,
            kind=kinds[0],
            target=(loop or parsed.name) if pointwise else c or python_name,
            loop="" if pointwise else loop,
            check=check,
            promotion=pointwise or "none",
            cost=cost,
            variants=words,
            namespace=namespace,
            aliases=tuple(aliases.split()),
            numbers=frozenset(accepted),
            view=view,
            writes_out=bool(pointwise) if writes_out is None else writes_out,
            random=random,
            reads_value=reads_value,
            since=since,
            autocast=autocast,
            names=names or ("" if not pointwise else "keep" if len(tensors) == 1 else "unify"),
            any_device=bool(pointwise) or view or device == "any",
            tags=frozenset(tags.split()),
            doc=doc,
        )
    )
