"""Write the op table as C: schemas, overload groups, and one entry point per function and method.

Runs at build time with this folder's parent on sys.path; the output is never committed.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from ._docs import text
from ._row import TABLE, Row
from ._schema import Argument

__all__ = ["generate", "rows"]

HERE = Path(__file__).parent
TYPES = {"Tensor": "TENSOR", "Scalar": "SCALAR", "int": "INT", "float": "FLOAT", "bool": "BOOL", "str": "STR",
         "ScalarType": "DTYPE", "Layout": "LAYOUT", "Device": "DEVICE", "MemoryFormat": "MEMORY_FORMAT",
         "Generator": "GENERATOR"}  # fmt: skip
MEMORY_FORMATS = {
    "contiguous_format": 0,
    "preserve_format": 1,
    "channels_last": 2,
    "channels_last_3d": 3,
}
TAGS = {"factory": "TD_F_FACTORY", "keep_conj": "TD_F_KEEP_CONJ",
        "mixes_devices": "TD_F_MIXES_DEVICES", "takes_numbers": "TD_F_TAKES_NUMBERS",
        "casts_out": "TD_F_CASTS_OUT", "apart": "TD_F_APART", "slices": "TD_F_SLICES",
        "detaches": "TD_F_DETACHES", "host_indices": "TD_F_HOST_INDICES"}  # fmt: skip


_read: list[bool] = []  # not empty once all families are in the table


def rows() -> list[Row]:
    """All rows, read once from every family file beside this one.

    A thread that comes while another one reads imports too, and so waits for each family.
    """
    if not _read:
        for file in sorted(HERE.glob("[a-z]*.py")):
            importlib.import_module(f"{__package__}.{file.stem}")
        _read.append(True)
    return TABLE


def generate(out_dir: Path) -> list[Path]:
    """Write `ops.gen.c` and `entries.gen.h`; return the C files to compile.
    Files keep their time if unchanged.
    """
    groups = _groups(rows())
    out_dir.mkdir(parents=True, exist_ok=True)
    _write(out_dir / "ops.gen.c", _schemas_text(rows(), groups))
    _write(out_dir / "entries.gen.h", _entries_text(groups))
    _write(out_dir / "loops.gen.c", _loops_text(HERE.parents[2] / "csrc" / "cpu"))
    return [out_dir / "ops.gen.c", out_dir / "loops.gen.c"]


def _write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)  # half-written: differs, so the next build writes it again


def _groups(table: list[Row]) -> dict[tuple[str, str, bool], list[Row]]:
    """(namespace, Python name, in-place form?) -> overloads in table order."""
    groups: dict[tuple[str, str, bool], list[Row]] = {}
    for row in table:
        for name in (row.schema.name, *row.aliases):
            if row.variants & {"function", "method"}:
                groups.setdefault((row.namespace, name, False), []).append(row)
            if "inplace" in row.variants:
                groups.setdefault((row.namespace, name + "_", True), []).append(row)
    return groups


def _string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _number(value: float) -> str:
    return {"inf": "INFINITY", "-inf": "-INFINITY"}.get(repr(float(value)), repr(float(value)))


def _default(a: Argument, name: str) -> tuple[str, str]:
    """(declaration of a constant array or "", initialiser of a td_arg)."""
    value = a.default
    if value is None:
        return "", "{TD_ARG_NONE}"
    if a.is_list:
        if a.base == "Tensor":
            return "", "{TD_ARG_TENSORS, 0, {.tensors = 0}}"
        values = list(value) if isinstance(value, list | tuple) else [value] * (a.length or 1)
        kind, ctype, member = {"int": ("INTS", "int64_t", "ints"), "bool": ("BOOLS", "int64_t", "ints"),
                               "float": ("FLOATS", "double", "floats")}[a.base]  # fmt: skip
        text = ", ".join(str(int(v)) if ctype == "int64_t" else _number(v) for v in values) or "0"
        return (
            f"static const {ctype} {name}[] = {{{text}}};\n",
            f"{{TD_ARG_{kind}, {len(values)}, {{.{member} = {name}}}}}",
        )
    if a.base == "int":
        return "", f"{{TD_ARG_INT, 0, {{.i = {int(value)}}}}}"
    if a.base == "bool":
        return "", f"{{TD_ARG_BOOL, 0, {{.i = {int(bool(value))}}}}}"
    if a.base == "float":
        return "", f"{{TD_ARG_FLOAT, 0, {{.f = {_number(value)}}}}}"
    if a.base == "str":
        return "", f"{{TD_ARG_STR, 0, {{.str = {_string(str(value))}}}}}"
    if a.base == "Scalar":
        kind, i = (
            ("TD_S_BOOL", int(value))
            if isinstance(value, bool)
            else ("TD_S_INT", value)
            if isinstance(value, int)
            else ("TD_S_FLOAT", 0)
        )
        return "", f"{{TD_ARG_SCALAR, 0, {{.scalar = {{{kind}, {i}, {_number(value)}, 0}}}}}}"
    if a.base == "ScalarType":
        return "", "{TD_ARG_DTYPE, 0, {.i = TD_I64}}"
    if a.base == "MemoryFormat":
        return "", f"{{TD_ARG_MEMORY_FORMAT, 0, {{.i = {MEMORY_FORMATS[str(value)]}}}}}"
    raise ValueError(f"argument {a.name}: no C form for the default {value!r} of type {a.base}")


def _param(a: Argument, row: Row, tag: str) -> tuple[str, str]:
    flags = [name for name, on in (
        ("LIST", a.is_list), ("OPTIONAL", a.optional), ("ELEMENT_OPTIONAL", a.element_optional),
        ("KEYWORD", a.keyword_only), ("NUMBER", a.name in row.numbers), ("MUTATED", a.mutated),
        ("DEFAULT", a.has_default)) if on]  # fmt: skip
    declaration, value = _default(a, f"d_{tag}_{a.name}") if a.has_default else ("", "{0}")
    joined = " | ".join("TD_P_" + f for f in flags) or "0"
    return (
        declaration,
        f"    {{{_string(a.name)}, TD_T_{TYPES[a.base]}, {joined}, {a.length or 0}, {value}}},\n",
    )


def _flags(row: Row) -> str:
    names = [TAGS[t] for t in sorted(row.tags) if t in TAGS]
    names += (
        ["TD_F_VIEW"] * row.view
        + ["TD_F_RANDOM"] * row.random
        + ["TD_F_READS_VALUE"] * bool(row.reads_value)
        + ["TD_F_OUT"] * ("out" in row.variants)
        + ["TD_F_INPLACE"] * ("inplace" in row.variants)
        + ["TD_F_ANY_DEVICE"] * row.any_device
    )
    names += ["TD_F_MUTATES"] * any(a.mutated for a in row.schema.arguments)
    names += ["TD_F_ROUNDS_NUMBERS"] * row.rounds_numbers
    return " | ".join(names) or "0"


def _schema_entry(index: int, row: Row) -> str:
    s = row.schema
    impl = {"pointwise": "td_op_pointwise", "c": f"td_op_{row.target}"}.get(row.kind, "0")
    loops = f"&loops_{index}" if row.kind == "pointwise" else "0"
    loop = row.target if row.kind == "pointwise" else row.loop
    alias = []
    for r in s.returns[:6]:
        owner = [
            i for i, a in enumerate(s.arguments) if r.mutated and a.alias == r.alias and a.mutated
        ]
        alias.append(str(owner[0]) if owner else "-1")
    tensors = [r for r in s.returns if r.base == "Tensor"]
    names = (
        " ".join(r.name for r in s.returns)
        if len(s.returns) > 1 and all(r.name for r in s.returns)
        else ""
    )
    return (
        f"    {{{{{_string(s.name)}, {_string(s.overload)}, {impl}, "
        f"{_string(loop) if loop else '0'}, {loops}, {row.cost}f, "
        f"TD_PROMOTE_{row.promotion.upper()}, {int(row.writes_out)}, {int(row.rounds_numbers)}, "
        f"{index}}},\n"
        f"     params_{index}, {_string(row.family)}, {_string(row.target)}, {_string(s.qualified)}, "
        f"{_string(row.namespace)}, {_string(names)}, {{{', '.join(alias) or '-1'}}}, {len(s.arguments)}, "
        f"{sum(not a.keyword_only for a in s.arguments)}, {len(s.returns)}, TD_KIND_{row.kind.upper()}, "
        f"{int(any(r.is_list for r in s.returns))}, {int(len(tensors) != len(s.returns))}, {_flags(row)}, "
        f"TD_CAST_{row.autocast.upper() or 'AS_GIVEN'}, TD_NAMES_{row.names.upper() or 'REFUSE'}}},\n"
    )


def _schemas_text(table: list[Row], groups: dict) -> str:
    out = [
        (
            "/* generated from the op table */\n#include <math.h>\n#include "
            '"object/schema.h"\n#include "ops/pointwise/pointwise.h"\n\n'
        )
    ]
    targets = sorted({f"td_op_{r.target}" for r in table if r.kind == "c"} | {"td_op_pointwise"})
    out += [f"td_status {t}(td_call *call);\n" for t in targets]
    for i, row in enumerate(table):
        declared = [_param(a, row, str(i)) for a in row.schema.arguments]
        out += [d for d, _ in declared]
        out += [
            f"static const td_param params_{i}[] = {{\n",
            *[p for _, p in declared],
            "    {0}\n};\n",
        ]
        if row.kind == "pointwise":
            out.append(f"static td_op_loops loops_{i};\n")
    out += [
        "td_schema td_schemas[] = {\n",
        *[_schema_entry(i, r) for i, r in enumerate(table)],
        "};\n",
    ]
    out.append(f"const int td_schema_count = {len(table)};\n\n")
    out += [
        f"td_status td_row_check_{check}(const td_call *, td_pointwise *);\n"
        for check in sorted({row.check for row in table} - {""})
    ]
    checks = "".join(
        f"    [{i}] = td_row_check_{r.check},\n" for i, r in enumerate(table) if r.check
    )
    out.append(f"const td_pointwise_check td_row_checks[{len(table)}] = {{\n{checks}}};\n")
    index = {id(r): i for i, r in enumerate(table)}
    for g, members in enumerate(groups.values()):
        pointers = ", ".join(f"&td_schemas[{index[id(r)]}]" for r in members)
        out.append(f"static td_schema *const group_{g}[] = {{{pointers}}};\n")
    out.append("const td_function td_functions[] = {\n")
    for g, ((namespace, name, inplace), members) in enumerate(groups.items()):
        function = any("function" in r.variants for r in members)
        method = any("method" in r.variants for r in members) and not namespace
        if inplace:
            function = function and len(members[0].schema.arguments) > 0
        out.append(
            f"    {{{_string(name)}, {_string(namespace)}, {_string(members[0].doc)}, group_{g}, "
            f"{len(members)}, "
            f"{int(function)}, {int(method)}, {int(inplace)}}},\n"
        )
    out.append(f"}};\nconst int td_function_count = {len(groups)};\n")
    return "".join(out)


def _entries_text(groups: dict) -> str:
    """A C entry point per Python name: what METH_FASTCALL needs to know which op it is, and what
    help says of it.
    """
    out = ["/* generated from the op table; included once by dispatch.c */\n"]
    out += [f"TD_ENTRY({g})\n" for g in range(len(groups))]
    out.append("static const td_entry td_entries[] = {\n")
    for g, ((namespace, name, inplace), members) in enumerate(groups.items()):
        function = _string(text(name, members, method=False, inplace=inplace))
        is_method = any("method" in r.variants for r in members) and not namespace
        method = _string(text(name, members, method=True, inplace=inplace)) if is_method else "0"
        out.append(f"    {{td_call_function_{g}, td_call_method_{g}, {function}, {method}}},\n")
    out.append("};\n")
    return "".join(out)


def _loops_text(kernels: Path) -> str:
    """Every TD_TABLE(name)[] of the kernel files, listed per instruction set."""
    names = sorted(
        {
            n
            for f in kernels.rglob("*.c")
            for n in re.findall(r"^const td_loop_entry TD_TABLE\((\w+)\)", f.read_text(), re.M)
        }
    )
    out = [
        (
            "/* generated from the kernel files */\n#include <stddef.h>\n#include "
            '"runtime/cpu.h"\n#include "runtime/loops.h"\n\n'
        )
    ]
    for isa in ("generic", "avx2", "avx512"):
        if isa == "avx2":
            out.append("#ifdef __x86_64__\n")
        out += [f"extern const td_loop_entry td_table_{n}_{isa}[];\n" for n in names]
        listed = "".join(f"td_table_{n}_{isa}, " for n in names)
        out.append(f"static const td_loop_entry *const {isa}_tables[] = {{{listed}NULL}};\n")
    out.append("#endif\n\nconst td_loop_entry *const *td_loop_tables(void)\n{\n#ifdef __x86_64__\n")
    out.append(
        "    if (td_isa() == TD_ISA_AVX512) return avx512_tables;\n    if (td_isa() == "
        "TD_ISA_AVX2) return avx2_tables;\n#endif\n"
    )
    out.append("    return generic_tables;\n}\n")
    return "".join(out)
