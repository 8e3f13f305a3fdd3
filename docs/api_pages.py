"""Write the reference: a page for each module, with every public name, from signatures and docstrings.

A name stands where a program finds it first (`taeda.nn.Linear`, not
`taeda.nn.modules.linear.Linear`); other modules that have it too link there. Functions of `taeda`
itself are cut into pages by the family of their operation.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import taeda
from taeda._table._generate import rows

__all__ = ["modules", "names_of", "write"]

#: modules that stand first, in this order; others follow by name
FIRST = (
    "taeda", "taeda.nn", "taeda.nn.functional", "taeda.nn.init", "taeda.optim",
    "taeda.optim.lr_scheduler", "taeda.utils.data",
    "taeda.autograd", "taeda.func", "taeda.linalg", "taeda.fft", "taeda.special", "taeda.amp",
    "taeda.distributions", "taeda.serialization",
    "taeda.random", "taeda.utils.checkpoint", "taeda.compiler", "taeda.distributed",
)  # fmt: skip
#: modules that hold what others show, or nothing that programs call
LEFT_OUT = re.compile(
    r"taeda\.(autograd\.batching|(autograd|masked|nested|quantization|sparse)\.rules|nn\.modules\.\w+|return_types|utils\.(data|benchmark)\.\w+"
    r"|optim\.(?!lr_|swa_)\w+"
    r"|distributions\.(?!constraint|kl|transforms|utils)\w+|functional|distributed\.\w+\.\w+\.\w+\..*)(\..*)?"
)
SCAFFOLD = {"annotations", "extend_path", "install_hint", "lazy_attributes"}
TITLES = {
    "view": "Views and "
    "shapes", "join": "Joining and splitting", "pointwise": "Pointwise", "reduction": "Reductions",
    "linalg": "Linear algebra",
    "fft": "Fourier "
    "transforms", "special": "Special functions", "conv": "Convolution", "matmul": "Products",
    "random": "Random numbers",
}  # fmt: skip


@dataclass
class Page:
    """One page: its file's name, its title, a text, and the objects on it as (full name, object)."""

    file: str
    title: str
    text: str
    module: str
    entries: list[tuple[str, Any]] = field(default_factory=list)


def modules() -> list[str]:
    """Every public module that gets a page, in order."""
    found = [
        info.name
        for info in pkgutil.walk_packages(taeda.__path__, "taeda.")
        if not any(part.startswith("_") for part in info.name.split("."))
    ]
    wanted = {name for name in found if not LEFT_OUT.fullmatch(name)} | {"taeda"}
    return [name for name in FIRST if name in wanted] + sorted(wanted - {*FIRST})


def names_of(module: ModuleType) -> list[str]:
    """The public names of a module that are no modules."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n in dir(module) if not n.startswith("_") and n not in SCAFFOLD]
    values = ((name, getattr(module, name)) for name in sorted({*names}))
    return [name for name, value in values if not inspect.ismodule(value) and name[:1] != "_"]


def write(folder: Path) -> None:
    """Write all pages and their index, and remove pages of modules that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = _pages()
    texts = {f"{page.file}.md": _text(page) for page in pages} | _indexes(pages)
    for path in folder.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


#: where each object is shown, by its key: what a text that names it links to
_shown: dict[Any, str] = {}


def _pages() -> list[Page]:
    seen = _shown
    seen.clear()
    made: list[Page] = []
    for name in modules():
        module = importlib.import_module(name)
        page = Page(name, name, _for_readers(inspect.getdoc(module) or ""), name)
        for entry in names_of(module):
            page.entries.append((f"{name}.{entry}", getattr(module, entry)))
        made += _by_family(page) if name == "taeda" else [page]
    for page in made:
        for name, value in page.entries:  # an old name beside it must not be where all others point
            if getattr(value, "__name__", None) == name.rpartition(".")[2]:
                _elsewhere(name, value, seen)
        page.entries = [
            (n, _Seen(seen[_key(v)]) if _elsewhere(n, v, seen) else v) for n, v in page.entries
        ]
    return [page for page in made if any(not isinstance(value, _Seen) for _, value in page.entries)]


@dataclass
class _Seen:
    """What stands on another page already, under this name."""

    place: str


def _key(value: Any) -> Any:
    return id(value) if callable(value) else None


def _elsewhere(name: str, value: Any, seen: dict[Any, str]) -> bool:
    if not callable(value) or name.startswith("taeda.Tensor."):
        return False
    return seen.setdefault(_key(value), name) != name


#: pages of `taeda`'s names that stand first; "other" stands last
ORDER = ("types", "creation", "indexing", "view", "join", "pointwise", "comparison", "reduction",
    "matmul", "linalg", "random", "sorting")  # fmt: skip


def _by_family(page: Page) -> list[Page]:
    """The names of `taeda`, a page for each family of operations, one for types and one for the rest."""
    families: dict[str, str] = {}
    for row in reversed(list(rows())):
        families |= dict.fromkeys((row.schema.name, *row.aliases), row.family)
    parts: dict[str, Page] = {}
    for name, value in page.entries:
        short = name.rpartition(".")[2].rstrip("_")
        is_type = isinstance(value, type) or not callable(value)
        family = "types" if is_type else families.get(short, "other").partition("_")[0]
        title = TITLES.get(family, family.replace("_", " ").capitalize())
        text = {
            "types": page.text,
            "other": "Functions that are no operations: settings, random numbers, files.",
        }.get(family, "")
        part = parts.setdefault(
            family, Page(f"taeda-{family}", f"taeda: {title[0].lower()}{title[1:]}", text, "taeda")
        )
        part.entries.append((name, value))
    if "types" in parts:  # the one that everybody looks for stands first
        parts["types"].entries.sort(key=lambda entry: (entry[0] not in MAIN_TYPES, entry[0]))
    rank = {family: place for place, family in enumerate(ORDER)} | {"other": 1000}
    return [
        parts[family]
        for family in sorted(parts, key=lambda family: (rank.get(family, 100), family))
    ]


MAIN_TYPES = {
    f"taeda.{name}"
    for name in ("Tensor", "Size", "Generator", "device", "dtype", "float32", "int64", "bool")
}


# ---- text ----

GROUPS = {
    "Tensors": r"taeda-.*",
    "Mathematics": r"taeda\.(linalg|fft|special|signal.*|random|quasirandom)",
    "Derivatives": r"taeda\.(autograd.*|func|utils\.checkpoint)",
    "Layers": r"taeda\.nn.*",
    "Optimizers": r"taeda\.optim.*",
    "Training": r"taeda\.(amp.*|utils\.data.*|serialization|storage|utils\.serialization.*)",
    "Distributions": r"taeda\.distributions.*",
    "Several processes": r"taeda\.(distributed.*|multiprocessing.*|futures)",
    "Programs as graphs": r"taeda\.(compiler|fx.*|jit|export.*|onnx.*)",
    "Extending and measuring": r"taeda\.(library|ops|overrides|testing.*|monitor|profiler.*"
    r"|utils\.(benchmark|bottleneck|flop_counter|tensorboard.*|cpp_extension|dlpack|hooks|op_trace).*)",
    "Devices and settings": r".*",
}


def _indexes(pages: list[Page]) -> dict[str, str]:
    """The page that lists all others by what they are for, and a page for each such group."""
    texts = {}
    lines = [
        "# Reference",
        "",
        "Every public name, with its signature and its text. {doc}`../ops` lists the operations alone.",
        "",
    ]
    left, names = list(pages), []
    for title, pattern in GROUPS.items():
        chosen = [page for page in left if re.fullmatch(pattern, page.file)]
        left = [page for page in left if page not in chosen]
        if not chosen:
            continue
        names.append(f"group-{title.lower().replace(' ', '-')}")
        table = [
            "| | |",
            "|---|---|",
            *(f"| {{doc}}`{page.file}` | {_about(page)} |" for page in chosen),
        ]
        toctree = ["```{toctree}", ":hidden:", "", *(page.file for page in chosen), "```", ""]
        texts[f"{names[-1]}.md"] = "\n".join([f"# {title}", "", *table, "", *toctree])
        lines += [f"## {title}", "", *table, ""]
    lines += ["```{toctree}", ":hidden:", "", *names, "```", ""]
    return texts | {"index.md": "\n".join(lines)}


def _about(page: Page) -> str:
    """What a page is about: the first sentence of its text, or the first names on it."""
    if page.text and page.module == page.file:
        return _escaped(_first(page.text)).replace("|", "")
    names = [
        f"`{name.rpartition('.')[2]}`"
        for name, value in page.entries
        if not isinstance(value, _Seen) and not name.endswith("_")
    ]
    return ", ".join(names[:6]) + (" ..." if len(names) > 6 else "")


def _text(page: Page) -> str:
    own = page.module == page.file and not _is_function(page.module)
    anchor = f"```{{py:module}} {page.module}\n```\n" if own else f"(api-{page.file})=\n"
    lines = [anchor, f"# {page.title}", "", _markdown(page.text), "", "| | |", "|---|---|"]
    for name, value in page.entries:
        place = value.place if isinstance(value, _Seen) else name
        sentence = "" if isinstance(value, _Seen) else _sentence(value)
        lines.append(
            f"| {{py:obj}}`{name.removeprefix(page.module + '.')} <{place}>` | {sentence} |"
        )
    lines.append(f"\n```{{py:currentmodule}} {page.module}\n```\n")
    for name, value in page.entries:
        if not isinstance(value, _Seen):
            lines += _entry(name.removeprefix(page.module + "."), value)
    return "\n".join(lines) + "\n"


#: the lines of a module's text that say what its files hold
_FILES = re.compile(
    r"^ {4}[\w/]+(?:\.py|/)\s.*\n(?: {4}[\w/]+(?:\.py|/)\s.*\n| {8,}\S.*\n)*\n*", re.M
)


def _for_readers(text: str) -> str:
    """The text of a module without its table of files, which is for those who change it."""
    return _FILES.sub("", text + "\n").strip()


def _is_function(path: str) -> bool:
    """Whether a function hides the module of its name, as `taeda.nn.utils.weight_norm` does."""
    place, _, name = path.rpartition(".")
    return bool(place) and callable(getattr(importlib.import_module(place), name, None))


def _entry(name: str, value: Any) -> Iterable[str]:
    if isinstance(value, type):
        return _class(name, value)
    if callable(value):
        return _directive("function", name, value)
    return [f"``````{{py:data}} {name}\n{_constant(value)}\n``````\n"]


def _constant(value: Any) -> str:
    text = repr(value)
    return (
        f"`{text}`"
        if len(text) < 80 and " at 0x" not in text and "`" not in text
        else f"A {type(value).__name__}."
    )


def _class(name: str, kind: type) -> Iterator[str]:
    yield f"````````{{py:class}} {name}{_signature(kind)}\n"
    yield _markdown(_own_doc(kind))
    for member, value in sorted(_members(kind)):
        if (
            isinstance(value, property)
            or inspect.isgetsetdescriptor(value)
            or inspect.ismemberdescriptor(value)
        ):
            yield f"\n``````{{py:property}} {member}\n{_markdown(inspect.getdoc(value) or '')}\n``````\n"
        else:
            plain = value.__func__ if isinstance(value, (staticmethod, classmethod)) else value
            mark = {staticmethod: "\n:staticmethod:", classmethod: "\n:classmethod:"}.get(
                type(value), ""
            )
            yield from _directive("method", member, plain, mark, kind)
    yield "````````\n"


def _own_doc(kind: type) -> str:
    return inspect.cleandoc(kind.__doc__) if kind.__dict__.get("__doc__") else ""


def _members(kind: type) -> Iterator[tuple[str, Any]]:
    """What a class itself, or a private base of its own, defines for users and says something of."""
    others = [base for base in kind.__mro__[1:] if not _is_private(base)]
    # said where they are documented
    elsewhere = {base for other in others for base in other.__mro__}
    seen = set()
    for base in kind.__mro__:
        if base in elsewhere:
            continue
        for name, value in vars(base).items():
            if name.startswith("_") or name in seen or isinstance(value, type):
                continue
            seen.add(name)
            described = isinstance(value, (property, staticmethod, classmethod)) or callable(value)
            if (described or inspect.isgetsetdescriptor(value)) and inspect.getdoc(value):
                yield name, value


def _is_private(base: type) -> bool:
    """Whether a base is a part of others, in a private file or by its name."""
    return base.__name__.startswith("_") or (
        base.__module__.startswith("taeda.")
        and "._" in base.__module__
        and base is not taeda.Tensor
    )


def _directive(
    what: str, name: str, value: Any, mark: str = "", kind: type | None = None
) -> Iterator[str]:
    signatures, doc = _split(name, inspect.getdoc(value) or "")
    short = name.rpartition(".")[2]
    if not signatures:
        signatures = [f"{short}{_signature(value, method=what == 'method' and not mark)}"]
    signatures = [re.sub(r"^\w+\(self(, /)?,? ?", f"{short}(", text) for text in signatures]
    head = "\n".join(text.replace(short, name, 1) for text in signatures)
    yield f"\n``````{{py:{what}}} {head}{mark}\n\n{_markdown(_for_method(doc, name, kind))}\n``````\n"


def _for_method(doc: str, name: str, kind: type | None) -> str:
    """A method that is an operation points at the function, which says the rest."""
    if kind is taeda.Tensor and callable(getattr(taeda, name, None)):
        return f"{_first(doc)} See {{py:obj}}`taeda.{name}`."
    return doc


def _split(name: str, doc: str) -> tuple[list[str], str]:
    """The signatures that an operation's docstring begins with, and the rest."""
    short, lines = name.rpartition(".")[2], doc.splitlines()
    count = 0
    while count < len(lines) and lines[count].startswith(f"{short}("):
        count += 1
    return lines[:count], "\n".join(lines[count:]).strip()


def _signature(value: Any, method: bool = False) -> str:
    try:
        found = inspect.signature(value)
    except (ValueError, TypeError):
        return "(...)"
    shown = [p for k, p in enumerate(found.parameters.values()) if not (method and k == 0)]
    parameters = [p.replace(annotation=p.empty) for p in shown]
    parameters = [
        p.replace(default=_Shown(p.default)) if p.default is not p.empty else p for p in parameters
    ]
    return str(found.replace(parameters=parameters, return_annotation=found.empty))


class _Shown:
    """A default, as a word: a function by its name, an object without its address."""

    def __init__(self, value: Any) -> None:
        text = getattr(value, "__name__", None) or repr(value)
        self.text = "..." if " at 0x" in text or len(text) > 60 or value is ... else text

    def __repr__(self) -> str:
        return self.text


def _first(doc: str) -> str:
    paragraph = doc.strip().partition("\n\n")[0].replace("\n", " ")
    found = re.match(r"(.+?[.:;])(\s|$)", paragraph)
    text = (found[1] if found else paragraph).rstrip(":;.")
    return f"{text}." if text else ""


def _sentence(value: Any) -> str:
    if not callable(value):
        return _constant(value).replace("|", "\\|")
    doc = _own_doc(value) if isinstance(value, type) else inspect.getdoc(value) or ""
    _, rest = _split(getattr(value, "__name__", ""), doc)
    return _escaped(_first(rest)).replace("|", "\\|")


#: lines above the lists of a docstring
HEADS = ("Args:", "Shape:", "Raises:", "Returns:")
ARGUMENT = re.compile(r"^ {4}(\*{0,2}[\w ]+(?:, \*{0,2}[\w ]+)*): (.*)$")


def _markdown(doc: str) -> str:
    """A docstring as Markdown: examples as code, the list of arguments as a list."""
    lines, out = doc.splitlines(), []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.lstrip().startswith(">>> "):
            end = at
            while end < len(lines) and lines[end].strip():
                end += 1
            block = "\n".join(lines[at:end])
            out += [
                "",
                "```pycon",
                inspect.cleandoc(block) if block[:1] == " " else block,
                "```",
                "",
            ]
            at = end
            continue
        if line in HEADS:
            out += ["", f"**{line[:-1]}**", ""]
            at += 1
            continue
        if found := ARGUMENT.match(line):
            out += [""] * (not out or not out[-1].startswith("- **"))
            out.append(f"- **{found[1].replace('*', chr(92) + '*')}**: {_escaped(found[2])}")
            at += 1
            while at < len(lines) and lines[at].startswith(" " * 5):  # it goes on
                out[-1] += " " + _escaped(lines[at].strip())
                at += 1
            continue
        if line.startswith("    "):
            end = at
            while end < len(lines) and (lines[end].startswith("    ") or not lines[end].strip()):
                end += 1
            block = "\n".join(text[4:] for text in lines[at:end]).rstrip()
            out += ["", "```text", block, "```", ""]
            at = end
            continue
        out.append(_escaped(line))
        at += 1
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out))


NAMED = re.compile(r"(?<!\})`nn\.functional\.(\w+)`")


def _linked(named: re.Match[str]) -> str:
    """A function that a layer's text names, as a link to where it is shown."""
    place = _shown.get(_key(getattr(taeda.nn.functional, named[1], None)))
    return f"{{py:obj}}`{named[0][1:-1]} <{place}>`" if place else named[0]


def _escaped(line: str) -> str:
    """A line of prose whose signs mean themselves, outside of `code`."""
    if line.startswith(("|", "- ", "#")):
        return line if not line.startswith("#") else f"\\{line}"
    line = NAMED.sub(_linked, line)
    parts = re.split(r"(`[^`]*`|\{py:obj\}`[^`]*`)", line)
    return "".join(
        p if p.startswith(("`", "{py:")) else re.sub(r"([*_<>\[\]$])", r"\\\1", p) for p in parts
    )
