"""Type stubs from the op table: `taeda/__init__.pyi`, and one for each namespace such as `taeda/linalg.pyi`.

Written when core is built and never committed. What is no operation stands in taeda.pyi.in. Knows
only the table, because taeda cannot be imported yet.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from keyword import iskeyword
from pathlib import Path
from typing import Any

__all__ = ["write"]

DTYPES = """
bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 short int long float16 half bfloat16 float32
float float64 double complex32 chalf complex64 cfloat complex128 cdouble float8_e4m3fn float8_e5m2
float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu qint8 qint32 quint8 quint2x4 quint4x2
"""
# Python's own types are spelled in full, and ours have a second name: Tensor has methods called
# `int` and `float`, taeda has such dtypes, and `dtype` is an attribute too.
TYPES = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "int": "builtins.int",
    "SymInt": "builtins.int",
    "float": "builtins.float",
    "bool": "builtins.bool",
    "str": "str",
    "ScalarType": "_dtype",
    "Layout": "_layout",
    "Device": "Device",
    "MemoryFormat": "_memory_format",
    "Generator": "Generator",
}
NAMESPACE_HEAD = """# Operations of this namespace, from the op table.
# mypy: disable-error-code="misc, overload-overlap, overload-cannot-match"
# pyright: reportOverlappingOverload=false, reportInconsistentOverload=false
import builtins
from collections.abc import Sequence
from typing import overload

from taeda import Device, Generator, Number, Tensor
from taeda import dtype as _dtype
from taeda import layout as _layout
from taeda import memory_format as _memory_format

"""
# what a namespace holds besides operations
NAMESPACE_MORE = {"linalg": "from taeda._errors import LinAlgError as LinAlgError\n\n"}


def write(rows: Iterable[Any], package: Path, out: Path | None = None) -> list[Path]:
    """Write the stubs of `rows` (of the op table) into the package's folder, or into `out`; return
    their paths.
    """
    rows = list(rows)
    template = (package / "_build" / "taeda.pyi.in").read_text()
    if "{exports}" in template:
        lazy = _exports(package / "__init__.py", template)
        template = template.replace("{exports}", lazy)
    public = _imported(template)  # a function in Python stands before the operation of its name
    plain = [row for row in rows if row.namespace == "" and row.schema.name not in public]
    text = (
        template.replace("{dtypes}", "\n".join(f"{name}: dtype" for name in DTYPES.split()))
        .replace("{methods}", _methods(rows, _defined(template)))
        .replace("{results}", "\n".join(_named_tuples(rows)))
        .replace("{functions}", _functions(plain))
    )
    texts = {"__init__": text}
    for space in sorted({row.namespace for row in rows} - {"", "nn", "attribute", "functional"}):
        here = [row for row in rows if row.namespace == space]
        results = sorted({_result(row) for row in here if _named(row)})
        head = NAMESPACE_HEAD + "".join(f"from taeda import {name}\n" for name in results)
        more = NAMESPACE_MORE.get(space, "") + _also_at_the_top(package / f"{space}.py")
        texts[space] = head + more + _functions(here)
    return [_update((out or package) / f"{name}.pyi", content) for name, content in texts.items()]


def _assigned(source: Path, name: str) -> dict[str, str]:
    """The table of names that a module assigns to `name`, without importing it."""
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            code = compile(ast.Expression(node.value), str(source), "eval")
            found: dict[str, str] = eval(code)
            return found
    return {}


def _also_at_the_top(source: Path) -> str:
    """Imports of what a namespace takes from the top: `_TOP` of its module."""
    table = _assigned(source, "_TOP") if source.exists() else {}
    lines = []
    for name, top in sorted(table.items()):
        if name == top:
            lines.append(f"from taeda import {top} as {name}\n")
        else:  # an import under another name is private to a checker
            lines.append(f"from taeda import {top} as _{top}\n{name} = _{top}\n")
    return "".join(lines) + "\n" * bool(lines)


def _exports(source: Path, template: str) -> str:
    """An import of each name that loads when it is first named, unless the template types it:
    `_EXPORTS` of the package.
    """
    table = _assigned(source, "_EXPORTS")
    lines = []
    for name, place in sorted(table.items()):
        typed = re.search(rf"^(def |class )?{name}\b[:(]|^from .* as {name}$", template, re.M)
        if not typed:
            module = "taeda" if place.endswith(":") else f"taeda.{place}"
            lines.append(f"from {module} import {name} as {name}")
    return "\n".join(lines)


def _update(path: Path, text: str) -> Path:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)  # half-written: differs, so the next build writes it again
    return path


def _imported(template: str) -> set[str]:
    """Functions that the template takes from taeda.functional."""
    head = "from taeda.functional import "
    lines = [line.removeprefix(head) for line in template.splitlines() if line.startswith(head)]
    return {line.partition(" as ")[0] for line in lines}


def _defined(template: str) -> set[str]:
    """Names of Tensor that the template types by hand."""
    body = template.partition("class Tensor:")[2]
    lines = [line.strip() for line in body.splitlines()]
    methods = {line[4:].partition("(")[0] for line in lines if line.startswith("def ")}
    return methods | {line.partition(":")[0] for line in lines if ": " in line and "(" not in line}


def _functions(rows: list[Any]) -> str:
    groups: dict[str, list[str]] = {}
    for row in rows:
        for name in (row.schema.name, *row.aliases):
            if "function" in row.variants:
                groups.setdefault(name, []).extend(_signatures(row, name, method=False))
            if "inplace" in row.variants and "function" in row.variants:
                groups.setdefault(f"{name}_", []).extend(_in_place(row, f"{name}_", method=False))
    return _overloads(groups, indent="")


def _methods(rows: list[Any], taken: set[str]) -> str:
    groups: dict[str, list[str]] = {}
    for row in rows:
        for name in (row.schema.name, *row.aliases):
            if "method" in row.variants and name not in taken:
                groups.setdefault(name, []).extend(_signatures(row, name, method=True))
            if (
                row.variants >= {"inplace", "method"}
                and not row.namespace
                and f"{name}_" not in taken
            ):
                groups.setdefault(f"{name}_", []).extend(_in_place(row, f"{name}_", method=True))
    return _overloads(groups, indent="    ")


def _overloads(groups: dict[str, list[str]], indent: str) -> str:
    lines = []
    for _, signatures in sorted(groups.items()):
        unique = list(dict.fromkeys(signatures))
        for signature in unique:
            lines += [f"{indent}@overload"] * (len(unique) > 1) + [indent + signature]
    return "\n".join(lines) + "\n"


def _signatures(row: Any, name: str, *, method: bool) -> list[str]:
    """The spellings of a row; a leading list of sizes may also be given as separate numbers."""
    result = _result(row)
    arguments = list(row.schema.arguments)
    out = [f"out: {'Tensor' if len(row.schema.returns) == 1 else 'Sequence[Tensor]'} | None = None"]
    out = out if "out" in row.variants and not method else []
    if "factory" in row.tags:
        out.append("requires_grad: builtins.bool = False")
    if row.names == "make":
        out.append("names: Sequence[str | None] | None = None")
    made = [_signature(name, _parameters(row, arguments, method), out, result)]
    first = next((a for a in arguments if not (method and a.name == "self")), None)
    if (
        first
        and first.base == "int"
        and first.is_list
        and not first.length
        and not first.keyword_only
    ):
        rest = [a for a in arguments if a is not first and not (method and a.name == "self")]
        if all(a.keyword_only for a in rest):
            positional = ["self"] * method + [f"*{first.name}: builtins.int"]
            made.append(
                _signature(name, (positional, [_parameter(row, a) for a in rest]), out, result)
            )
    return made


def _in_place(row: Any, name: str, *, method: bool) -> list[str]:
    parameters = _parameters(row, list(row.schema.arguments), method)
    return [_signature(name, parameters, [], "Self" if method else "Tensor")]


def _signature(
    name: str, parameters: tuple[list[str], list[str]], out: list[str], result: str
) -> str:
    positional, keyword = parameters
    keyword = [*keyword, *out]
    star = ["*"] if keyword and not any(part.startswith("*") for part in positional) else []
    return f"def {name}({', '.join([*positional, *star, *keyword])}) -> {result}: ..."


def _parameters(row: Any, arguments: list[Any], method: bool) -> tuple[list[str], list[str]]:
    positional: list[str] = []
    keyword: list[str] = []
    for argument in arguments:
        text = "self" if method and argument.name == "self" else _parameter(row, argument)
        text = text if method else text.replace("self:", "input:")
        (keyword if argument.keyword_only else positional).append(text)
    return positional, keyword


def _parameter(row: Any, argument: Any) -> str:
    kind = TYPES[argument.base]
    if argument.name == "dim" and row.names:
        kind += " | str"  # the name of a dimension
    if argument.name in row.numbers:
        kind = "Tensor | Number"
    if argument.is_list:
        entry = f"{kind} | None" if argument.element_optional else kind
        kind = f"Sequence[{entry}]" + (
            f" | {kind}" if argument.length and argument.base != "Tensor" else ""
        )
    if argument.optional:
        kind += " | None"
    name = f"{argument.name}_" if iskeyword(argument.name) else argument.name
    return f"{name}: {kind}" + (" = ..." if argument.has_default else "")


def _named(row: Any) -> bool:
    """Do the results make a named tuple?"""
    return len(row.schema.returns) > 1 and all(r.name for r in row.schema.returns)


def _result(row: Any) -> str:
    returns = row.schema.returns
    kinds = [f"list[{TYPES[r.base]}]" if r.is_list else TYPES[r.base] for r in returns]
    if _named(row):
        return f"_{row.schema.name}_{'_'.join(r.name for r in returns)}"
    return kinds[0] if len(kinds) == 1 else f"tuple[{', '.join(kinds)}]" if kinds else "None"


def _named_tuples(rows: list[Any]) -> list[str]:
    made = {}
    for row in rows:
        returns = row.schema.returns
        if _named(row):
            fields = "\n".join(f"    {r.name}: {TYPES[r.base]}" for r in returns)
            made[_result(row)] = f"class {_result(row)}(NamedTuple):\n{fields}\n"
    return [made[name] for name in sorted(made)]
