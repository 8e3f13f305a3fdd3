"""Write torch's C++ signatures of the operators that extensions call, from the table.

    python tools/hold/torch_functions.py           writes the two headers
    python tools/hold/torch_functions.py --check   says whether they are as written

`torch_functions.txt` has the names. A row of the table becomes a function of `at::`, a method where
its first argument is `self`, and another of each in place where the table has one. Where a Tensor
stands second and Python may write a number, there is one for a Scalar, too.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "packages/core/src/taeda"))
from _table import _schema as schemas  # noqa: E402 - the table is read without the package around it
from _table._generate import rows as load_rows  # noqa: E402
from _table._row import Row  # noqa: E402
from _table._schema import REQUIRED  # noqa: E402

FOLDER = ROOT / (
    "packages/cpp-extension/src/taeda/utils/cpp_extension/include/torch_compat/taeda_torch"
)
TYPES = {
    "Tensor": "const Tensor &",
    "Tensor?": "const std::optional<Tensor> &",
    "Tensor[]": "TensorList ",
    "int": "int64_t ",
    "int?": "std::optional<int64_t> ",
    "int[]": "IntArrayRef ",
    "int[]?": "OptionalIntArrayRef ",
    "float": "double ",
    "float?": "std::optional<double> ",
    "bool": "bool ",
    "bool?": "std::optional<bool> ",
    "Scalar": "const Scalar &",
    "Scalar?": "const std::optional<Scalar> &",
    "ScalarType": "ScalarType ",
    "ScalarType?": "std::optional<ScalarType> ",
    "str": "string_view ",
    "str?": "std::optional<string_view> ",
    "Generator?": "std::optional<Generator> ",
    "MemoryFormat?": "std::optional<MemoryFormat> ",
}
ELSEWHERE = ("linalg", "special", "fft")  # other functions of the same names
RESHAPING = {"resize", "t", "transpose", "squeeze", "unsqueeze", "set", "swapaxes", "swapdims"}
C_WORDS = {"from": "from_", "default": "default_", "register": "register_"}


@dataclass(frozen=True)
class Argument:
    name: str
    type: str
    default: str | None

    @property
    def declared(self) -> str:
        return TYPES[self.type] + self.name

    def with_default(self) -> str:
        return self.declared + (f" = {self.default}" if self.default is not None else "")


@dataclass(frozen=True)
class Function:
    name: str
    row: str
    arguments: tuple[Argument, ...]
    result: str

    @property
    def inplace(self) -> bool:
        return self.result == "&"

    @property
    def is_method(self) -> bool:
        return bool(self.arguments) and self.arguments[0] == Argument("self", "Tensor", None)


def _default(value: object) -> str | None:
    """In C++; None for an argument without one."""
    if value is REQUIRED:
        return None
    plain = {None: "nullopt", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return plain[value]
    if isinstance(value, (list, tuple)):
        return "{" + ", ".join(map(str, value)) + "}"
    text = str(value)
    return text if re.fullmatch(r"-?[\d.e-]+", text) else f'"{text}"'


def _kind(value: schemas.Argument | schemas.Return) -> str:
    """The type without lengths and alias sets, as TYPES has it."""
    entry = value.base.replace("SymInt", "int") + "?" * value.element_optional
    return entry + "[]" * value.is_list + "?" * value.optional


def _result(returns: tuple[schemas.Return, ...]) -> str | None:
    """ "" for a Tensor, "2" for two, "list", "&" for the first argument; None for what C++ gets not."""
    kinds = [_kind(r) for r in returns]
    if kinds == ["Tensor[]"]:
        return "list"
    if not kinds or set(kinds) != {"Tensor"}:
        return None
    return "&" if returns[0].mutated else "" if len(kinds) == 1 else str(len(kinds))


def _numbered(row: Row, arguments: tuple[Argument, ...]) -> Iterator[tuple[Argument, ...]]:
    """The arguments, and again with numbers in place of Tensors that may be some. The first stays one."""
    yield arguments
    names = [a.name for a in arguments[1:] if a.name in row.numbers and a.type.startswith("Tensor")]
    for count in range(1, len(names) + 1):
        for chosen in combinations(names, count):
            if row.schema.name == "clamp" and count < len(names):
                continue  # both are missing or of one kind
            yield tuple(
                Argument(a.name, a.type.replace("Tensor", "Scalar"), a.default)
                if a.name in chosen
                else a
                for a in arguments
            )


def functions() -> list[Function]:
    """What the names of the list become, in its order."""
    named: dict[str, list[Row]] = {}
    for row in load_rows():
        if row.namespace in ELSEWHERE:
            continue
        for name in (row.schema.name, *row.aliases):
            named.setdefault(name, []).append(row)
    made = [
        function
        for name in (HERE / "torch_functions.txt").read_text().split()
        for row in named[name]
        for function in _of_row(name, row)
    ]
    return list(dict.fromkeys(made))


def _of_row(name: str, row: Row) -> Iterator[Function]:
    result = _result(row.schema.returns)
    kinds = [_kind(a) for a in row.schema.arguments]
    if result is None or not set(kinds) <= TYPES.keys():
        return
    plain = tuple(
        Argument(C_WORDS.get(a.name, a.name), kind, _default(a.default))
        for a, kind in zip(row.schema.arguments, kinds, strict=True)
    )
    dot = f".{row.schema.overload}" if row.schema.overload else ""
    written = "inplace" in row.variants and name not in RESHAPING and not result
    for arguments in _numbered(row, plain):
        yield Function(name, f"{row.schema.name}{dot}", arguments, result)
        if written:
            yield Function(f"{name}_", f"{row.schema.name}_{dot}", arguments, "&")


def _type(f: Function) -> str:
    if f.inplace:
        return "Tensor &"
    if f.result == "list":
        return "std::vector<Tensor> "
    count = int(f.result or 1)
    return "Tensor " if count == 1 else f"std::tuple<{', '.join(['Tensor'] * count)}> "


def _declared(arguments: tuple[Argument, ...]) -> str:
    """With those defaults behind which no argument lacks one."""
    last = max((k for k, a in enumerate(arguments) if a.default is None), default=-1)
    return ", ".join(a.with_default() if k > last else a.declared for k, a in enumerate(arguments))


def _method(f: Function) -> str:
    return f"{_type(f)}{f.name}({_declared(f.arguments[1:])}) const;"


def _definitions(f: Function) -> Iterator[str]:
    values = ", ".join(a.name for a in f.arguments)
    given = f"{{{values}}}"
    how = {"list": f"list({given})", "&": f"list({given})", "": f"one({given})"}.get(
        f.result, f"tuple<{f.result}>({given})"
    )
    head = f'static const detail::Row row("{f.row}");'
    if f.inplace:
        rest = _declared(f.arguments).replace("const Tensor &self", "", 1).lstrip(", ")
        parameters = "Tensor &self" + (f", {rest}" if rest else "")
        body = f"{head}\n    row.{how};\n    return self;"
        yield f"inline Tensor &{f.name}({parameters})\n{{\n    {body}\n}}"
    else:
        body = f"{head}\n    return row.{how};"
        yield f"inline {_type(f)}{f.name}({_declared(f.arguments)})\n{{\n    {body}\n}}"
    if not f.is_method:
        return
    rest = ", ".join(a.declared for a in f.arguments[1:])
    this = "const_cast<Tensor &>(*this)" if f.inplace else "*this"
    passed = ", ".join([this, *(a.name for a in f.arguments[1:])])
    yield f"inline {_type(f)}Tensor::{f.name}({rest}) const {{ return at::{f.name}({passed}); }}"


SAID = "made from the table by tools/hold/torch_functions.py: edit torch_functions.txt"


def texts() -> dict[str, str]:
    """The headers by name."""
    found = functions()
    methods = [_method(f) for f in found if f.is_method]
    bodies = [text for f in found for text in _definitions(f)]
    guard = "TAEDA_TORCH_FUNCTIONS_HPP"
    head = f"/* taeda_torch/functions.hpp - {SAID}. */\n#ifndef {guard}\n#define {guard}\n"
    head += '#include "taeda_torch/input.hpp"\n\nnamespace at TAEDA_HIDDEN {\n\n'
    return {
        "methods.inc": "\n".join([f"/* methods.inc - {SAID}. */", *methods, ""]),
        "functions.hpp": head + "\n".join(bodies) + "\n\n}\n#endif\n",
    }


def main(arguments: list[str]) -> int:
    stale = []
    for name, text in texts().items():
        path = FOLDER / name
        if "--check" not in arguments:
            path.write_text(text)
        elif not path.is_file() or path.read_text() != text:
            stale.append(name)
    for name in stale:
        print(f"{name} is not as the table has it: python tools/hold/torch_functions.py")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
