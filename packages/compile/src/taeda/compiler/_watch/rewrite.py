"""A copy of a function that tells an observer what it reads, stores and calls.

    cfg.rate * x[k]      ->  __observer__.read(__observer__.name("cfg"), "rate") * __observer__.item(x, k)
    for layer in layers  ->  for layer in __observer__.each(layers)

The copy runs in the function's own globals and closure, so it computes what the function computes.
The function itself is not touched. `instrumented` refuses what it cannot copy faithfully, above all
a source that is not that of the code: the text is compiled once as it is, and must give the very
bytecode of the function.
"""

from __future__ import annotations

import ast
import dis
import functools
import linecache
import types
from collections.abc import Iterator
from typing import Any

from .._errors import CannotCopy
from .scalars import ARITHMETIC, draw_of, drawn_names
from .targets import apart

__all__ = ["catches_nothing", "catching_lines", "code_of", "copy_of", "node_of"]

_OBSERVER = "__observer__"
_OPERATORS = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow",
    ast.MatMult: "matmul", ast.BitAnd: "and_", ast.BitOr: "or_", ast.BitXor: "xor",
    ast.LShift: "lshift", ast.RShift: "rshift",
}  # fmt: skip


# ---- the text of a function ----


@functools.lru_cache(maxsize=64)
def _parsed(filename: str, text: str) -> tuple[ast.Module, list[Any]]:
    """(the tree of a file, what it imports)"""
    tree = ast.parse(text, filename)
    return tree, list(_imports(tree))


def _functions_at(tree: ast.AST, line: int) -> Iterator[Any]:
    """Functions and lambdas whose code begins in a line; what lies elsewhere is not walked through."""
    waiting = [tree]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            end = getattr(node, "end_lineno", None)
            first = _first_line(node) if end is not None else line
            if first <= line <= (end or line):
                waiting.append(node)
                if first == line and isinstance(node, ast.FunctionDef | ast.Lambda):
                    yield node


def _first_line(node: Any) -> int:
    """Where code begins: at the decorators, if there are any."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])


def _imports(node: Any) -> Iterator[Any]:
    """Those at module scope: methods of what they name are called by other instructions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import) or (
            isinstance(child, ast.ImportFrom) and child.module != "__future__"
        ):
            yield child
        elif not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr
        ):
            yield from _imports(child)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _wrapped(
    node: Any, code: types.CodeType, imports: list[Any], extra: tuple[str, ...] = ()
) -> types.CodeType:
    """The code of the function when it is compiled inside of one that owns its free variables."""
    inner: ast.stmt
    if isinstance(node, ast.Lambda):
        inner = ast.Expr(node)
    else:
        inner = ast.FunctionDef(**{f: getattr(node, f) for f in node._fields if hasattr(node, f)})
        inner.decorator_list = []
        inner.returns = None
    names = [*code.co_freevars, *extra]
    outer = ast.parse("def __outer__():\n    pass")
    function = outer.body[0]
    assert isinstance(function, ast.FunctionDef)
    function.args.args = [ast.arg(name) for name in names]
    function.body = [inner]
    if isinstance(inner, ast.FunctionDef) and inner.name not in names:
        # a function that calls itself by its global name reads no variable of the outer one
        function.body.insert(0, ast.Global([inner.name]))
    outer.body += imports
    ast.copy_location(inner, node)
    ast.fix_missing_locations(outer)
    made = compile(
        outer, code.co_filename, "exec", dont_inherit=True, flags=code.co_flags & _FUTURE
    )
    (owner,) = (
        c for c in made.co_consts if isinstance(c, types.CodeType) and c.co_name == "__outer__"
    )
    wanted = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    (found,) = (c for c in owner.co_consts if isinstance(c, types.CodeType) and c.co_name == wanted)
    return found


_FUTURE = 0x1000000  # annotations are text: the one __future__ that changes code here


def _same(a: types.CodeType, b: types.CodeType) -> bool:
    if (a.co_code, a.co_names, a.co_varnames, a.co_freevars, a.co_cellvars) != (
        b.co_code, b.co_names, b.co_varnames, b.co_freevars, b.co_cellvars,
    ):  # fmt: skip
        return False
    if len(a.co_consts) != len(b.co_consts):
        return False
    for x, y in zip(a.co_consts, b.co_consts, strict=True):
        if isinstance(x, types.CodeType) and isinstance(y, types.CodeType):
            if not _same(x, y):
                return False
        elif type(x) is not type(y) or repr(x) != repr(y):
            return False
    return True


@functools.lru_cache(maxsize=1024)
def _node_of(code: types.CodeType, filename: str) -> tuple[Any, list[Any]]:
    """The function in the tree of its file, which nobody changes, and the imports there."""
    if (code, filename) in _written:
        return _written[code, filename]
    linecache.checkcache(filename)
    lines = linecache.getlines(filename)
    if not lines:
        raise CannotCopy("its source cannot be read")
    try:
        tree, imports = _parsed(filename, "".join(lines))
    except SyntaxError:
        raise CannotCopy("its source cannot be read") from None
    for node in _functions_at(tree, code.co_firstlineno):
        try:
            if _same(_wrapped(node, code, imports), code):
                return node, imports
        except (ValueError, SyntaxError):
            continue
    raise CannotCopy("its source is not that of the code that runs")


#: code that `code_of` made, and what it was made of
_written: dict[tuple[types.CodeType, str], tuple[Any, list[Any]]] = {}


def node_of(code: types.CodeType) -> tuple[Any, list[Any]]:
    """The function of a code, which nobody changes, and the imports of its file. CannotCopy says
    why it is not known.
    """
    return _node_of(code, code.co_filename)


def code_of(node: Any, around: types.CodeType, imports: list[Any]) -> types.CodeType:
    """The code of a function that was made of another one's parts; copies of it can be made."""
    try:
        code = _wrapped(node, around, imports)
    except (ValueError, SyntaxError) as error:
        raise CannotCopy(f"its parts do not compile: {error}") from None
    _written[code, code.co_filename] = node, imports
    return code


def _fresh(node: Any) -> Any:
    """A copy of a tree; what has no parts and no place (a context, an operator) is shared."""
    if isinstance(node, list):
        return [_fresh(entry) for entry in node]
    if not isinstance(node, ast.AST) or not vars(node):
        return node
    made = type(node).__new__(type(node))  # what its class asks for comes below
    vars(made).update({name: _fresh(value) for name, value in vars(node).items()})
    return made


# ---- the copy ----


def _loads(code: types.CodeType) -> set[str]:
    return {
        str(i.argval)
        for c in _codes(code)
        for i in dis.get_instructions(c)
        if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")
    }


def _check(code: types.CodeType, free: set[str], outer: set[str]) -> None:
    if code.co_flags & 0x280:  # a coroutine, or an asynchronous generator
        raise CannotCopy("it is asynchronous")
    for inner in _codes(code):
        clash = (free | outer) & {*inner.co_varnames, *inner.co_cellvars}
        if clash:
            raise CannotCopy(f"the name {min(clash)} has two meanings in it")
        for step in dis.get_instructions(inner):
            if step.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                raise CannotCopy(f"it stores to the global {step.argval}")
            if step.opname == "STORE_DEREF" and step.argval in free:
                raise CannotCopy(
                    f"it stores to {step.argval}, a variable of the function around it"
                )


def copy_of(code: types.CodeType) -> types.CodeType:
    """The code of the copy; its free variables are those of `code` and the observer.
    CannotCopy says why not.
    """
    return _copy(code, code.co_filename)  # codes of two files may be equal


@functools.lru_cache(maxsize=1024)
def _copy(code: types.CodeType, filename: str) -> types.CodeType:
    free, outer = set(code.co_freevars), _loads(code)
    _check(code, free, outer)
    found, imports = _node_of(code, filename)
    node = _fresh(found)
    rewriter = _Rewriter(free - {"__class__"}, outer, drawn_names(found))
    if isinstance(node, ast.Lambda):
        node.body = rewriter.visit(node.body)
    else:
        node.body = [*_packed(node), *(rewriter.visit(statement) for statement in node.body)]
    if rewriter.refused:
        raise CannotCopy(rewriter.refused)
    try:
        return _wrapped(node, code, imports, (_OBSERVER,))
    except (ValueError, SyntaxError) as error:
        raise CannotCopy(f"its copy does not compile: {error}") from None


_CATCHES_NOTHING = ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "autocast")


@functools.lru_cache(maxsize=1024)
def catching_lines(code: types.CodeType) -> tuple[tuple[int, int], ...]:
    """(first, last) of the lines from which an error may come to code of the function: its
    handlers, what it does at last, its contexts.
    """
    found = []
    for node in ast.walk(_node_of(code, code.co_filename)[0]):
        if isinstance(node, ast.With):
            catches = not catches_nothing(node)
        else:
            catches = isinstance(node, ast.Try | ast.TryStar)
        if catches and isinstance(node, ast.stmt):
            found.append((node.lineno, node.end_lineno or node.lineno))
    return tuple(found)


def catches_nothing(node: ast.With) -> bool:
    """Whether every error comes out of a block."""
    return all(_name_of(i.context_expr) in _CATCHES_NOTHING for i in node.items)


def _name_of(node: ast.expr) -> str:
    """The last name of what is called."""
    called = node.func if isinstance(node, ast.Call) else node
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def _tell(name: str, *args: ast.expr) -> ast.Call:
    return ast.Call(
        ast.Attribute(ast.Name(_OBSERVER, ast.Load()), name, ast.Load()), list(args), []
    )


def _packed(node: Any) -> list[ast.stmt]:
    """Tells of the dict in which a call packs keywords: it is new."""
    if node.args.kwarg is None:
        return []
    told = ast.Expr(_tell("fresh", ast.Name(node.args.kwarg.arg, ast.Load())))
    return [ast.copy_location(told, node)]


def _mangled(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


class _Rewriter(ast.NodeTransformer):
    def __init__(self, free: set[str], outer: set[str], drawn: frozenset[str]) -> None:
        self.free, self.outer, self.drawn = free, outer, drawn
        self.refused = ""

    def refuse(self, why: str, node: Any) -> Any:
        self.refused = self.refused or f"{why} in line {getattr(node, 'lineno', '?')} of it"
        return node

    def _at(self, made: Any, node: Any) -> Any:
        return ast.copy_location(made, node)

    # ---- reads ----

    def visit_Name(self, node: ast.Name) -> Any:
        if not isinstance(node.ctx, ast.Load):
            return node
        if node.id in self.free:
            return self._at(_tell("free", ast.Constant(node.id), node), node)
        if node.id in self.outer:
            return self._at(_tell("name", ast.Constant(node.id), node), node)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> Any:
        if _mangled(node.attr):
            return self.refuse(f"a private name ({node.attr})", node)
        if not isinstance(node.ctx, ast.Load):
            return self.refuse("a store to an attribute among others", node)
        value = self.visit(node.value)
        return self._at(_tell("read", value, ast.Constant(node.attr)), node)

    def _key(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Slice):
            parts = [
                self.visit(p) if p else ast.Constant(None)
                for p in (node.lower, node.upper, node.step)
            ]
            return self._at(_tell("slice", *parts), node)
        if isinstance(node, ast.Tuple):
            return self._at(ast.Tuple([self._key(e) for e in node.elts], ast.Load()), node)
        return self.visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if not isinstance(node.ctx, ast.Load):
            return self.refuse("a store to an item among others", node)
        return self._at(_tell("item", self.visit(node.value), self._key(node.slice)), node)

    def visit_Call(self, node: ast.Call) -> Any:
        if isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            return node
        if isinstance(node.func, ast.Name) and node.func.id in (
            "locals",
            "globals",
            "vars",
            "eval",
            "exec",
            "dir",
        ):
            return self.refuse(f"{node.func.id}()", node)
        self.generic_visit(node)
        node.args = [node.func, *node.args]
        node.func = ast.Attribute(ast.Name(_OBSERVER, ast.Load()), "call", ast.Load())
        for keyword in node.keywords:
            if keyword.arg is None:
                keyword.value = _tell("each", keyword.value)
        return node

    def visit_Starred(self, node: ast.Starred) -> Any:
        if isinstance(node.ctx, ast.Load):
            node.value = _tell("each", self.visit(node.value))
        return node

    # ---- what makes a container ----

    def _makes(self, node: Any) -> Any:
        self.generic_visit(node)
        if isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            return node
        return self._at(_tell("fresh", node), node)

    visit_List = visit_Set = _makes  # noqa: N815 - names of the visitor's protocol
    visit_ListComp = visit_SetComp = visit_DictComp = _makes  # noqa: N815 - as above

    def visit_Dict(self, node: ast.Dict) -> Any:
        self.generic_visit(node)
        for n, key in enumerate(node.keys):
            if key is None:
                node.values[n] = _tell("each", node.values[n])
        return self._at(_tell("fresh", node), node)

    # ---- what looks into a container ----

    def visit_For(self, node: ast.For) -> Any:
        self._target(node.target)
        self.generic_visit(node)
        node.iter = _tell("each", node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        self._target(node.target)
        self.generic_visit(node)
        node.iter = _tell("each", node.iter)
        node.ifs = [_tell("whole", test) for test in node.ifs]
        return node

    def _test(self, node: Any) -> Any:
        self.generic_visit(node)
        node.test = _tell("whole", node.test)
        return node

    visit_If = visit_While = visit_IfExp = visit_Assert = _test  # noqa: N815 - names of the visitor's protocol

    def visit_BoolOp(self, node: ast.BoolOp) -> Any:
        self.generic_visit(node)
        node.values = [_tell("whole", value) for value in node.values]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        self.generic_visit(node)
        node.operand = _tell("whole", node.operand)
        return node

    def visit_BinOp(self, node: ast.BinOp, *, inner: bool = False) -> Any:
        if type(node.op) in ARITHMETIC:
            parts = [
                self.visit_BinOp(part, inner=True)
                if isinstance(part, ast.BinOp)
                else self.visit(part)
                for part in (node.left, node.right)
            ]
            op = ast.Constant(ARITHMETIC[type(node.op)])
            return self._at(_tell("binary", op, ast.Constant(inner), *parts), node)
        self.generic_visit(node)
        node.left, node.right = _tell("whole", node.left), _tell("whole", node.right)
        if isinstance(node.op, ast.BitOr):  # of two dicts a new one
            return self._at(_tell("joined", node), node)
        return node

    def visit_Compare(self, node: ast.Compare) -> Any:
        self.generic_visit(node)
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            if not any(isinstance(p, ast.Constant) for p in (node.left, *node.comparators)):
                node.left = _tell("identity", node.left)
                node.comparators = [_tell("identity", part) for part in node.comparators]
            return node
        node.left = _tell("whole", node.left)
        node.comparators = [_tell("whole", value) for value in node.comparators]
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> Any:
        self.generic_visit(node)
        node.value = _tell("whole", node.value)
        return node

    def visit_YieldFrom(self, node: ast.YieldFrom) -> Any:
        self.generic_visit(node)
        node.value = _tell("each", node.value)
        return node

    # ---- stores ----

    def _target(self, node: Any) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute | ast.Subscript):
                self.refuse("a store to an attribute or item among others", node)

    def visit_Assign(self, node: ast.Assign) -> Any:
        draw = draw_of(node)
        if draw is not None and draw.target.id in self.drawn:
            name = ast.Constant(draw.name)
            node.value = _tell("draw", self.visit(draw.owner), name, *draw.args)
            return node
        value = self.visit(node.value)
        if len(node.targets) == 1 and (made := self._store(node.targets[0], value)) is not None:
            return self._at(ast.Expr(made), node)
        if (several := apart(node, value, self._store, _tell)) is not None:
            return self._at(several, node)
        for target in node.targets:
            self._target(target)
            if not isinstance(target, ast.Name):
                value = _tell("each", value)
        node.value = value
        return node

    def _store(self, target: ast.expr, value: ast.expr) -> ast.expr | None:
        if isinstance(target, ast.Attribute):
            if _mangled(target.attr):
                self.refuse(f"a private name ({target.attr})", target)
            return _tell("store", self.visit(target.value), ast.Constant(target.attr), value)
        if isinstance(target, ast.Subscript):
            return _tell("set_item", self.visit(target.value), self._key(target.slice), value)
        return None

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if node.value is None:
            return node
        value = self.visit(node.value)
        made = self._store(node.target, value)
        if made is not None:
            return self._at(ast.Expr(made), node)
        return self._at(ast.Assign([node.target], value), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        op, value = ast.Constant(_OPERATORS[type(node.op)]), self.visit(node.value)
        target = node.target
        if isinstance(target, ast.Attribute):
            if _mangled(target.attr):
                self.refuse(f"a private name ({target.attr})", target)
            made = _tell(
                "change_attribute", self.visit(target.value), ast.Constant(target.attr), op, value
            )
            return self._at(ast.Expr(made), node)
        if isinstance(target, ast.Subscript):
            made = _tell(
                "change_item", self.visit(target.value), self._key(target.slice), op, value
            )
            return self._at(ast.Expr(made), node)
        load = ast.copy_location(ast.Name(target.id, ast.Load()), target)
        changed = _tell("change", op, self.visit(load), value)
        return self._at(ast.Assign([target], changed), node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        self.generic_visit(node)
        node.body.insert(0, self._at(ast.Expr(_tell("caught")), node))
        return node

    def visit_Delete(self, node: ast.Delete) -> Any:
        for target in node.targets:
            self._target(target)
        return node

    def visit_With(self, node: ast.With) -> Any:
        for item in node.items:
            if item.optional_vars is not None:
                self._target(item.optional_vars)
        self.generic_visit(node)
        for item in node.items:
            item.context_expr = _tell("context", item.context_expr)
        return node

    # ---- refused ----

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        return self.refuse("a class is defined", node)

    def visit_Match(self, node: ast.Match) -> Any:
        return self.refuse("a match statement", node)

    def visit_Import(self, node: Any) -> Any:
        return self.refuse("an import", node)

    visit_ImportFrom = visit_Import  # noqa: N815 - as above

    def visit_AsyncFunctionDef(self, node: Any) -> Any:
        return self.refuse("an asynchronous function", node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [self.visit(d) if d else d for d in node.args.kw_defaults]
        node.decorator_list = [self.visit(d) for d in node.decorator_list]
        node.returns = None
        for argument in [
            *node.args.posonlyargs,
            *node.args.args,
            *node.args.kwonlyargs,
            node.args.vararg,
            node.args.kwarg,
        ]:
            if argument is not None:
                argument.annotation = None
        node.body = [*_packed(node), *(self.visit(statement) for statement in node.body)]
        return node

    def visit_Lambda(self, node: ast.Lambda) -> Any:
        node.args.defaults = [self.visit(d) for d in node.args.defaults]
        node.args.kw_defaults = [self.visit(d) if d else d for d in node.args.kw_defaults]
        node.body = self.visit(node.body)
        return node
