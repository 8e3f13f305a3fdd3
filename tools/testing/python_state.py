"""Programs that read state of Python: each idiom with each place where an object can be found.

A program is a text with a function `f(x, arg)`, and `change()`, which changes what `f` reads. It is
called three times, so that a compiled one is recorded, proved and run as a graph, then changed and
called again. `outcome` tells what came of it: results, and the state that is left.
"""

from __future__ import annotations

import itertools
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import taeda

__all__ = ["EXTRA", "IDIOMS", "PLACES", "Idiom", "Place", "outcome", "programs"]

HEAD = """
import collections, dataclasses, functools, operator, types
import taeda
import taeda.nn.functional as F
from taeda import nn

class Plain:
    def __init__(self, **given):
        self.__dict__.update(given)
    def scaled(self, x):
        return x * self.k
    def update(self, x):
        self.n += 1
        return x * 2
    def push(self, x):
        self.log.append(1)
        return x * 2
    @property
    def twice(self):
        return self.k * 2
    def __getitem__(self, key):
        return self.k + key
    def __call__(self, x):
        return x * self.k

class Other(Plain):
    def scaled(self, x):
        return x * self.k * 10

class AD(dict):
    __getattr__ = dict.__getitem__

class AG(dict):
    __getattr__ = dict.get

class Slots:
    __slots__ = ("k",)

class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.k, self.skip, self.names, self.cfg = 2.0, set(), [], {"n": {"d": [0]}}
        self.w = nn.Parameter(taeda.ones(3), requires_grad=False)
    def forward(self, x):
        return x * self.k * self.w

def scale_by(cfg, x):
    return x * cfg["k"]

def scale_by_keyword(x, *, cfg):
    return x * cfg["k"]
"""


@dataclass(frozen=True)
class Idiom:
    """How `OBJ` is made, what of `x` and `o` is computed, and how `OBJ` changes."""

    name: str
    made: str
    use: str
    change: str = ""
    state: str = "None"


def _reads(kind: str, made: str, *uses: tuple[str, str]) -> Iterator[Idiom]:
    for number, (use, change) in enumerate(uses):
        yield Idiom(f"{kind}-{number}", made, use, change)


_C = ("x * 2 if {} else x * 3").format

IDIOMS: list[Idiom] = [
    *_reads(
        "dims", "OBJ = [0]",
        ("x.sum(o)", "OBJ[0] = 1"), ("x.sum(dim=o)", "OBJ[0] = 1"), ("x[o]", "OBJ[0] = 1"),
        ("x[(o, o)]", "OBJ[0] = 1"), ("x.flip(o)", "OBJ[0] = 1"), ("x.amax(o)", "OBJ[0] = 1"),
        ("x.roll([1], o)", "OBJ[0] = 1"), ("taeda.mean(x, o)", "OBJ[0] = 1"),
        ("taeda.linalg.vector_norm(x, dim=o)", "OBJ[0] = 1"),
        ("taeda.full([2], o[0])", "OBJ[0] = 1"), ("taeda.tensor(o)", "OBJ[0] = 1"),
        ("taeda.tensor([[o]])", "OBJ[0] = 1"), ("F.pad(x, [0, 1, *o, 0])", "OBJ[0] = 1"),
        ("x.index_fill(0, taeda.tensor(o), 7.0)", "OBJ[0] = 1"),
    ),
    *_reads(
        "shape", "OBJ = [3, 3]",
        ("x.view(o)", "OBJ[:] = [9]"), ("x.reshape(o)", "OBJ[:] = [9]"),
        ("x.new_zeros(o)", "OBJ[:] = [9]"), ("taeda.ones(o)", "OBJ[:] = [9]"),
        ("taeda.full(o, 2.0)", "OBJ[:] = [9]"), ("F.pad(x, o)", "OBJ[:] = [1, 2]"),
        ("x.split([1, *o[:0], 2])[0] * len(o)", "OBJ[:] = [9]"),
    ),
    *_reads(
        "set", "OBJ = set()",
        (_C("1 in o"), "OBJ.add(1)"), (_C("1 not in o"), "OBJ.add(1)"), (_C("o"), "OBJ.add(1)"),
        (_C("not o"), "OBJ.add(1)"), (_C("o == {1}"), "OBJ.add(1)"), (_C("o <= {2}"), "OBJ.add(1)"),
        (_C("o & {1}"), "OBJ.add(1)"), (_C("{1} - o"), "OBJ.add(1)"), (_C("o | {1} == {1, 2}"), "OBJ.add(2)"),
        ("x * len(f'{o}')", "OBJ.add(1)"), ("x * len('%s' % (o,))", "OBJ.add(1)"),
        ("x * len('{}'.format(o))", "OBJ.add(1)"), ("x * len(str(o))", "OBJ.add(1)"),
        ("x * sum(o)", "OBJ.add(5)"), (_C("o.issubset({2})"), "OBJ.add(1)"), (_C("o.isdisjoint([1])"), "OBJ.add(1)"),
        (_C("{2}.issuperset(o)"), "OBJ.add(1)"), (_C("bool(o)"), "OBJ.add(1)"),
        (_C("any(o)"), "OBJ.add(1)"), ("x * len(sorted(o))", "OBJ.add(1)"), ("x * len(list(o))", "OBJ.add(1)"),
        ("x * len([*o])", "OBJ.add(1)"), ("x * len(o.copy())", "OBJ.add(1)"), ("x * len(frozenset(o))", "OBJ.add(1)"),
        (_C("[o] == [{1}]"), "OBJ.add(1)"), (_C("(o, 1) == ({1}, 1)"), "OBJ.add(1)"), (_C("1 in o or False"), "OBJ.add(1)"),
    ),
    *_reads(
        "deque", "OBJ = collections.deque([1])",
        (_C("2 in o"), "OBJ.append(2)"), (_C("o == collections.deque([1])"), "OBJ.append(2)"),
        ("x * len(f'{o}')", "OBJ.append(2)"), ("x * o[-1]", "OBJ.append(2)"), ("x * sum(o)", "OBJ.append(2)"),
        ("x * o.count(2)", "OBJ.append(2)"),
    ),
    *_reads(
        "dict", "OBJ = {'k': 2.0}",
        ("x * o['k']", "OBJ['k'] = 5.0"), ("x * o.get('k', 1)", "OBJ['k'] = 5.0"), ("x * o.get('z', 1)", "OBJ['z'] = 5.0"),
        (_C("'z' in o"), "OBJ['z'] = 5.0"), ("x * len(o)", "OBJ['z'] = 5.0"), ("x * sum(o.values())", "OBJ['z'] = 5.0"),
        ("x * {**o}['k']", "OBJ['k'] = 5.0"), ("x * dict(o)['k']", "OBJ['k'] = 5.0"), ("x * (o | {})['k']", "OBJ['k'] = 5.0"),
        ("x * {**{'a': 1}, **o}['k']", "OBJ['k'] = 5.0"), ("x * dict(**o)['k']", "OBJ['k'] = 5.0"),
        (_C("o == {'k': 5.0}"), "OBJ['k'] = 5.0"), (_C("o.keys() == {'k'}"), "OBJ['z'] = 5.0"), ("x * o.copy()['k']", "OBJ['k'] = 5.0"),
        ("x * operator.getitem(o, 'k')", "OBJ['k'] = 5.0"), ("x * list(map(o.get, ['k']))[0]", "OBJ['k'] = 5.0"),
        ("x * sum(map(o.__getitem__, ['k']))", "OBJ['k'] = 5.0"), ("x * sum(v for k, v in o.items())", "OBJ['k'] = 5.0"),
        ("scale_by(o, x)", "OBJ['k'] = 5.0"), ("scale_by_keyword(x, cfg=o)", "OBJ['k'] = 5.0"),
        ("functools.partial(scale_by, o)(x)", "OBJ['k'] = 5.0"), ("x * len(f'{o}')", "OBJ['zzz'] = 5.0"),
        ("x * [o, 1][0]['k']", "OBJ['k'] = 5.0"), ("x * max([o], key=len)['k']", "OBJ['k'] = 5.0"),
        ("x * (lambda q: q['k'])(o)", "OBJ['k'] = 5.0"), ("x * [q['k'] for q in [o]][0]", "OBJ['k'] = 5.0"),
        ("x * dict([('a', o)])['a']['k']", "OBJ['k'] = 5.0"), (_C("[o, 1] == [{'k': 5.0}, 1]"), "OBJ['k'] = 5.0"),
        ("x * len(f'{[o]}')", "OBJ['zzz'] = 5.0"), ("x * o.setdefault('k', 1)", "OBJ['k'] = 5.0"),
    ),
    *_reads(
        "nested", "OBJ = {'n': {'d': [0]}, 't': ([1.0],)}",
        ("x.sum(o['n']['d'])", "OBJ['n']['d'][0] = 1"), (_C("o['t'] == ([1.0],)"), "OBJ['t'][0][0] = 2.0"),
        ("x * len(f\"{o['t']}\")", "OBJ['t'][0].append(3)"), ("x * sum([*o['t'], [1.0]], [])[0]", "OBJ['t'][0][0] = 2.0"),
        (_C("[o['t']] == [([1.0],)]"), "OBJ['t'][0][0] = 2.0"), ("x * sorted([*o['t'], [1.5]])[1][0]", "OBJ['t'][0][0] = 2.0"),
        ("x * [*o['t']].count([1.0])", "OBJ['t'][0][0] = 2.0"), ("x * [p for p, in [*o['t']]][0]", "OBJ['t'][0][0] = 2.0"),
        ("taeda.tensor([[[[[o['t'][0]]]]]])", "OBJ['t'][0][0] = 2.0"), ("x * dict([[*o['t'][0], 1]]).get(2.0, 3)", "OBJ['t'][0][0] = 2.0"),
        ("x[([0], o['n']['d'])]", "OBJ['n']['d'][0] = 1"),
    ),
    *_reads(
        "object", "OBJ = Plain(k=2.0, n=0)",
        ("x * o.k", "OBJ.k = 5.0"), ("o.scaled(x)", "OBJ.k = 5.0"), ("x * o.twice", "OBJ.k = 5.0"), ("x * o[1]", "OBJ.k = 5.0"),
        ("o(x)", "OBJ.k = 5.0"), ("x * getattr(o, 'z', 1)", "OBJ.z = 5.0"), (_C("hasattr(o, 'z')"), "OBJ.z = 5.0"),
        (_C("isinstance(o, Other)"), "OBJ.__class__ = Other"), (_C("type(o) is Other"), "OBJ.__class__ = Other"),
        ("o.scaled(x)", "OBJ.__class__ = Other"), ("o.scaled(x)", "Plain.scaled = Other.scaled"),
        ("x * o.twice", "Plain.twice = property(lambda s: s.k * 7)"), ("o(x)", "Plain.__call__ = lambda s, x: x * 9"),
        ("x * o[1]", "Plain.__getitem__ = lambda s, k: 9"), ("x * object.__getattribute__(o, 'k')", "OBJ.k = 5.0"),
        ("x * o.__dict__['k']", "OBJ.k = 5.0"), ("x * operator.attrgetter('k')(o)", "OBJ.k = 5.0"),
        ("list(map(o.scaled, [x]))[0]", "OBJ.k = 5.0"), ("functools.partial(o.scaled)(x)", "OBJ.k = 5.0"),
        ("functools.partial(Plain.scaled, o)(x)", "OBJ.k = 5.0"), ("[o.scaled][0](x)", "OBJ.k = 5.0"),
        ("functools.reduce(lambda a, m: m(a), [o.scaled], x)", "OBJ.k = 5.0"), ("Plain.scaled(o, x)", "OBJ.k = 5.0"),
        ("x * o.__getattribute__('k')", "OBJ.k = 5.0"), ("x * {'a': o}['a'].k", "OBJ.k = 5.0"),
    ),
    *_reads("method", "INNER = Plain(k=2.0, n=0)\nOBJ = INNER.scaled",
        ("o(x)", "INNER.k = 5.0"), ("list(map(o, [x]))[0]", "INNER.k = 5.0"), ("x * o.__self__.k", "INNER.k = 5.0"),
        ("functools.partial(o, x)()", "INNER.k = 5.0"), ("[o][0](x)", "INNER.k = 5.0"), ("o(x)", "INNER.__class__ = Other; INNER.k = 5.0")),
    *_reads("partial", "CFG = {'k': 2.0}\nOBJ = functools.partial(scale_by, CFG)",
        ("o(x)", "CFG['k'] = 5.0"), ("x * o.args[0]['k']", "CFG['k'] = 5.0"), ("list(map(o, [x]))[0]", "CFG['k'] = 5.0"),
        ("o.func(*o.args, x)", "CFG['k'] = 5.0")),
    *_reads("keywords", "CFG = {'k': 2.0}\nOBJ = functools.partial(scale_by_keyword, cfg=CFG)",
        ("o(x)", "CFG['k'] = 5.0"), ("x * o.keywords['cfg']['k']", "CFG['k'] = 5.0"), ("o(x)", "OBJ.keywords['cfg'] = {'k': 7.0}")),
    *_reads("of_dims", "CFG = [0]\nOBJ = functools.partial(taeda.sum, dim=CFG)", ("o(x)", "CFG[0] = 1")),
    *_reads("of_method", "INNER = Plain(k=2.0)\nOBJ = functools.partial(INNER.scaled)", ("o(x)", "INNER.k = 5.0")),
    *_reads("getter", "CFG = {'k': 2.0, 'a': 3.0}\nOBJ = CFG.get",
        ("x * o('k')", "CFG['k'] = 5.0"), ("x * sum(map(o, ['k']))", "CFG['k'] = 5.0"), ("x * len(sorted(['k', 'a'], key=o)[0] + 'b') * o('a')", "CFG['a'] = 1.0"),
        (_C("min(['k', 'a'], key=o) == 'a'"), "CFG['a'] = 1.0"), (_C("max('ka', key=o) == 'a'"), "CFG['a'] = 1.0")),
    *_reads("itemgetter", "CFG = {'k': 2.0, 'a': 3.0}\nOBJ = CFG.__getitem__", ("x * o('k')", "CFG['k'] = 5.0")),
    *_reads("contains", "CFG = {1}\nOBJ = CFG.__contains__", ("x * len(list(filter(o, [1, 2])))", "CFG.add(2)"), (_C("o(2)"), "CFG.add(2)")),
    *_reads("attributes", "OBJ = AD(k=2.0)", ("x * o.k", "OBJ['k'] = 5.0"), ("x * o['k']", "OBJ['k'] = 5.0"), ("x * getattr(o, 'k')", "OBJ['k'] = 5.0"), (_C("hasattr(o, 'k')"), "OBJ['k'] = 5.0")),
    *_reads("attributes_get", "OBJ = AG(k=2.0)", ("x * o.k", "OBJ['k'] = 5.0"), (_C("o.z is None"), "OBJ['z'] = 1")),
    *_reads("slots", "OBJ = Slots()\nOBJ.k = 2.0", ("x * o.k", "OBJ.k = 5.0")),
    *_reads("namespace", "OBJ = types.SimpleNamespace(k=2.0)", ("x * o.k", "OBJ.k = 5.0")),
    *_reads("module", "OBJ = Scale()",
        ("o(x)", "OBJ.k = 5.0"), ("x * o.k", "OBJ.k = 5.0"), (_C("1 in o.skip"), "OBJ.skip.add(1)"), (_C("o.skip"), "OBJ.skip.add(1)"),
        (_C("not o.names"), "OBJ.names.append(1)"), ("x.sum(o.cfg['n']['d'])", "OBJ.cfg['n']['d'][0] = 1"), ("o(x)", "OBJ.w = nn.Parameter(taeda.zeros(3), requires_grad=False)"),
        ("o(x)", "Scale.forward = lambda s, x: x * 9"), ("o.forward(x)", "OBJ.k = 5.0"), ("o(x)", "OBJ.__dict__['k'] = 5.0"),
        ("list(map(o, [x]))[0]", "OBJ.k = 5.0"), ("x * o.w", "OBJ.w.data = taeda.zeros(3)")),
    *_reads("function", "def OBJ(x):\n    return x * OBJ.k\nOBJ.k = 2.0", ("o(x)", "OBJ.k = 5.0"), ("x * o.k", "OBJ.k = 5.0"),
        ("o(x)", "OBJ.__code__ = (lambda x: x * 9).__code__")),
    *_reads("operation", "CELL = types.SimpleNamespace()\nOBJ = taeda.relu", ("o(x - 2)", "")),
]  # fmt: skip

_WRITES = {
    "append": ("LOG = []\nOBJ = LOG.append", "(o(1), x * 2)[1]"),
    "extend": ("LOG = []\nOBJ = LOG.extend", "(o([1]), x * 2)[1]"),
    "map_append": ("LOG = []\nOBJ = LOG.append", "(list(map(o, [1, 2])), x * 2)[1]"),
    "key_append": ("LOG = []\nOBJ = LOG.append", "(max([1], key=o), x * 2)[1]"),
    "deque_append": ("LOG = collections.deque()\nOBJ = LOG.append", "(o(1), x * 2)[1]"),
    "add": ("LOG = set()\nOBJ = LOG.add", "(o(len(LOG)), x * 2)[1]"),
    "partial_append": ("LOG = []\nOBJ = functools.partial(LOG.append, 1)", "(o(), x * 2)[1]"),
    "update": ("LOG = Plain(k=1.0, n=0)\nOBJ = LOG.update", "o(x)"),
    "push": ("LOG = Plain(log=[])\nOBJ = LOG.push", "o(x)"),
    "partial_update": ("LOG = Plain(n=0)\nOBJ = functools.partial(LOG.update)", "o(x)"),
    "list_append": ("OBJ = LOG = []", "(o.append(1), x * 2)[1]"),
    "list_iadd": ("OBJ = LOG = []", "(o.__iadd__([1]), x * 2)[1]"),
    "setattr": ("OBJ = LOG = Plain(n=0)", "(setattr(o, 'n', o.n + 1), x * 2)[1]"),
    "object_setattr": ("OBJ = LOG = Plain(n=0, m=[])", "(object.__setattr__(o, 'n', 7), x * 2)[1]"),
    "object_setattr_new": (
        "OBJ = LOG = Plain(n=0)",
        "(object.__setattr__(o, 'z', len(LOG.__dict__)), x * 2)[1]",
    ),
    "setitem": ("OBJ = LOG = {}", "(operator.setitem(o, len(o), 1), x * 2)[1]"),
    "setitem_same": ("OBJ = LOG = {}", "(operator.setitem(o, 'a', 1), x * 2)[1]"),
    "ior": ("OBJ = LOG = set()", "(operator.ior(o, {1}), x * 2)[1]"),
    "iadd": ("OBJ = LOG = []", "(operator.iadd(o, [1]), x * 2)[1]"),
    "setdefault": ("OBJ = LOG = {}", "(o.setdefault('a', 1), x * 2)[1]"),
    "pop": ("OBJ = LOG = list(range(20))", "(o.pop(), x * 2)[1]"),
    "dict_update": ("OBJ = LOG = {}", "(o.update({'a': 1}), x * 2)[1]"),
    "list_init": ("OBJ = LOG = [1, 2]", "(o.__init__([3]), x * 2)[1]"),
    "dict_of_object": ("OBJ = LOG = Plain(n=0)", "(o.__dict__.update(z=1), x * 2)[1]"),
    "module_list": ("OBJ = LOG = Scale()", "(o.names.append(1), x * 2)[1]"),
}
#: the state is emptied between calls, so that an effect that is left out shows
IDIOMS += [
    Idiom(
        f"write-{name}",
        made,
        use,
        "",
        "(list(LOG) if isinstance(LOG, (list, set, dict, collections.deque)) else {k: v for k, v in LOG.__dict__.items() if k in ('n', 'log', 'z', 'names')})",
    )
    for name, (made, use) in _WRITES.items()
]


@dataclass(frozen=True)
class Place:
    """Where the program finds the object: lines before the function, its head, the expression."""

    name: str
    setup: str
    expression: str
    head: str = "def f(x, arg=None):"
    body: str = ""
    arg: str = "None"


PLACES = [
    Place("global", "", "OBJ"),
    Place("local", "", "o", body="o = OBJ\n    p = o"),
    Place("attribute", "HOLD = Plain(o=OBJ)", "HOLD.o"),
    Place("attribute twice", "HOLD = Plain(h=Plain(o=OBJ))", "HOLD.h.o"),
    Place("module", "HOLD = nn.Module()\nHOLD.o = OBJ", "HOLD.o"),
    Place("module list", "HOLD = nn.Module()\nHOLD.o = [OBJ]", "HOLD.o[0]"),
    Place("class", "class Hold:\n    o = [OBJ]", "Hold.o[0]"),
    Place("class of object", "class Hold:\n    o = [OBJ]\nHOLD = Hold()", "HOLD.o[0]"),
    Place("class of new object", "class Hold:\n    o = [OBJ]", "Hold().o[0]"),
    Place(
        "super",
        "class Base:\n    o = [OBJ]\nclass Hold(Base):\n    def got(self):\n        return super().o[0]\nHOLD = Hold()",
        "HOLD.got()",
    ),
    Place(
        "property",
        "class Hold:\n    def __init__(self):\n        self.inner = OBJ\n    @property\n    def o(self):\n        return self.inner\nHOLD = Hold()",
        "HOLD.o",
    ),
    Place("attribute dictionary", "HOLD = AD(o=OBJ)", "HOLD.o"),
    Place("namespace", "HOLD = types.SimpleNamespace(o=OBJ)", "HOLD.o"),
    Place(
        "namedtuple", "Hold = collections.namedtuple('Hold', 'o')\nHOLD = Hold(OBJ)", "HOLD.o"
    ),
    Place(
        "dataclass",
        "@dataclasses.dataclass\nclass Hold:\n    o: object\nHOLD = Hold(OBJ)",
        "HOLD.o",
    ),
    Place("list", "HOLD = [OBJ]", "HOLD[0]"),
    Place("list in list", "HOLD = [[OBJ]]", "HOLD[0][0]"),
    Place("tuple", "HOLD = (OBJ,)", "HOLD[0]"),
    Place("dict", "HOLD = {'o': OBJ}", "HOLD['o']"),
    Place("dict get", "HOLD = {'o': OBJ}", "HOLD.get('o')"),
    Place("deque", "HOLD = collections.deque([OBJ])", "HOLD[0]"),
    Place("ordered", "HOLD = collections.OrderedDict(o=OBJ)", "HOLD['o']"),
    Place("loop", "HOLD = [OBJ]", "o", body="for o in HOLD:\n        pass"),
    Place("values", "HOLD = {'o': OBJ}", "[*HOLD.values()][0]"),
    Place("new list", "", "[OBJ][0]"),
    Place("new dict", "", "{'o': OBJ}['o']"),
    Place("unpacked", "HOLD = [1, OBJ]", "o", body="_, o = HOLD"),
    Place("default", "", "o", head="def f(x, arg=None, o=OBJ):"),
    Place("keyword default", "", "o", head="def f(x, arg=None, *, o=OBJ):"),
    Place("default of helper", "def got(o=OBJ):\n    return o", "got()"),
    Place("result of helper", "def got():\n    return OBJ", "got()"),
    Place("closure", "def around(o):\n    return lambda: o\ngot = around(OBJ)", "got()"),
    Place("partial", "got = functools.partial(lambda o: o, OBJ)", "got()"),
    Place("keyword of partial", "got = functools.partial(lambda o: o, o=OBJ)", "got()"),
    Place("args of partial", "HOLD = functools.partial(print, OBJ)", "HOLD.args[0]"),
    Place(
        "bound method",
        "class Hold:\n    def got(self):\n        return self.o\nHOLD = Hold()\nHOLD.o = OBJ\ngot = HOLD.got",
        "got()",
    ),
    Place(
        "bound method in list",
        "class Hold:\n    def got(self):\n        return self.o\nHOLD = Hold()\nHOLD.o = OBJ\nGOT = [HOLD.got]",
        "GOT[0]()",
    ),
    Place("bound C method", "HOLD = {'o': OBJ}\ngot = HOLD.get", "got('o')"),
    Place("map of C method", "HOLD = {'o': OBJ}", "[*map(HOLD.get, ['o'])][0]"),
    Place("attribute of function", "def got():\n    pass\ngot.o = OBJ", "got.o"),
    Place("argument", "", "arg", arg="OBJ"),
    Place("attribute of argument", "HOLD = Plain(o=OBJ)", "arg.o", arg="HOLD"),
    Place("module as argument", "HOLD = nn.Module()\nHOLD.o = OBJ", "arg.o", arg="HOLD"),
    Place("list as argument", "", "arg[0]", arg="[OBJ]"),
    Place("attribute dictionary as argument", "HOLD = AD(o=OBJ)", "arg.o", arg="HOLD"),
]

#: programs by themselves, for what has no place
EXTRA: list[tuple[str, str]] = []


def programs() -> Iterator[tuple[str, str]]:
    """(name, text) of every idiom in every place."""
    for idiom, place in itertools.product(IDIOMS, PLACES):
        yield f"{idiom.name} in {place.name}", text_of(idiom, place)


def text_of(idiom: Idiom, place: Place) -> str:
    body = f"    {place.body}\n" if place.body else ""
    return (
        f"{HEAD}\n{idiom.made}\n{place.setup}\n{place.head}\n{body}"
        f"    o = {place.expression}\n    return {idiom.use}\n"
        f"def argument():\n    return {place.arg}\n"
        f"def change():\n    global OBJ, CFG, INNER\n    {idiom.change or 'pass'}\n"
        f"def state():\n    return {idiom.state}\n"
    )


_count = itertools.count()


def outcome(text: str, compile: Callable[[Any], Any]) -> list[Any]:
    """What six calls give, with a change after three, and the state after each."""
    filename = f"<state of Python {next(_count)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = types.ModuleType("a_program")
    space = vars(module)
    sys.modules["a_program"] = module
    try:
        exec(compile_text(text, filename), space)
        f = compile(space["f"])
        found: list[Any] = []
        for number in range(6):
            if number == 3:
                space["change"]()
            x = taeda.arange(9.0).reshape(3, 3) + number
            try:
                result = f(x, space["argument"]())
                found.append(result.tolist() if isinstance(result, taeda.Tensor) else repr(result))
            except Exception as error:  # noqa: BLE001 - what it raises is what came of it
                found.append(f"{type(error).__name__}: {error}")
            found.append(repr(space["state"]()))
        return found
    finally:
        del linecache.cache[filename], sys.modules["a_program"]


def compile_text(text: str, filename: str) -> Any:
    return compile(text, filename, "exec")
