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
from dataclasses import dataclass, replace
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

class AP(dict):
    def __getattr__(self, key):
        try:
            return self[key]
        except KeyError:
            raise AttributeError(key)

class Proxy:
    def __init__(self, inner):
        self.inner = inner
    def __getattr__(self, key):
        return getattr(self.inner, key)

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


EXCHANGE = "exchange"  # in place of a change: something else takes the place of the object


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
        "dims",
        "OBJ = [0]",
        ("x.sum(o)", "OBJ[0] = 1"),
        ("x.sum(dim=o)", "OBJ[0] = 1"),
        ("x[o]", "OBJ[0] = 1"),
        ("x[(o, o)]", "OBJ[0] = 1"),
        ("x.flip(o)", "OBJ[0] = 1"),
        ("x.amax(o)", "OBJ[0] = 1"),
        ("x.roll([1], o)", "OBJ[0] = 1"),
        ("taeda.mean(x, o)", "OBJ[0] = 1"),
        ("taeda.linalg.vector_norm(x, dim=o)", "OBJ[0] = 1"),
        ("taeda.full([2], o[0])", "OBJ[0] = 1"),
        ("taeda.tensor(o)", "OBJ[0] = 1"),
        ("taeda.tensor([[o]])", "OBJ[0] = 1"),
        ("F.pad(x, [0, 1, *o, 0])", "OBJ[0] = 1"),
        ("x.index_fill(0, taeda.tensor(o), 7.0)", "OBJ[0] = 1"),
    ),
    *_reads(
        "shape",
        "OBJ = [3, 3]",
        ("x.view(o)", "OBJ[:] = [9]"),
        ("x.reshape(o)", "OBJ[:] = [9]"),
        ("x.new_zeros(o)", "OBJ[:] = [9]"),
        ("taeda.ones(o)", "OBJ[:] = [9]"),
        ("taeda.full(o, 2.0)", "OBJ[:] = [9]"),
        ("F.pad(x, o)", "OBJ[:] = [1, 2]"),
        ("x.split([1, *o[:0], 2])[0] * len(o)", "OBJ[:] = [9]"),
    ),
    *_reads(
        "set",
        "OBJ = set()",
        (_C("1 in o"), "OBJ.add(1)"),
        (_C("1 not in o"), "OBJ.add(1)"),
        (_C("o"), "OBJ.add(1)"),
        (_C("not o"), "OBJ.add(1)"),
        (_C("o == {1}"), "OBJ.add(1)"),
        (_C("o <= {2}"), "OBJ.add(1)"),
        (_C("o & {1}"), "OBJ.add(1)"),
        (_C("{1} - o"), "OBJ.add(1)"),
        (_C("o | {1} == {1, 2}"), "OBJ.add(2)"),
        ("x * len(f'{o}')", "OBJ.add(1)"),
        ("x * len('%s' % (o,))", "OBJ.add(1)"),
        ("x * len('{}'.format(o))", "OBJ.add(1)"),
        ("x * len(str(o))", "OBJ.add(1)"),
        ("x * sum(o)", "OBJ.add(5)"),
        (_C("o.issubset({2})"), "OBJ.add(1)"),
        (_C("o.isdisjoint([1])"), "OBJ.add(1)"),
        (_C("{2}.issuperset(o)"), "OBJ.add(1)"),
        (_C("bool(o)"), "OBJ.add(1)"),
        (_C("any(o)"), "OBJ.add(1)"),
        ("x * len(sorted(o))", "OBJ.add(1)"),
        ("x * len(list(o))", "OBJ.add(1)"),
        ("x * len([*o])", "OBJ.add(1)"),
        ("x * len(o.copy())", "OBJ.add(1)"),
        ("x * len(frozenset(o))", "OBJ.add(1)"),
        (_C("[o] == [{1}]"), "OBJ.add(1)"),
        (_C("(o, 1) == ({1}, 1)"), "OBJ.add(1)"),
        (_C("1 in o or False"), "OBJ.add(1)"),
    ),
    *_reads(
        "deque",
        "OBJ = collections.deque([1])",
        (_C("2 in o"), "OBJ.append(2)"),
        (_C("o == collections.deque([1])"), "OBJ.append(2)"),
        ("x * len(f'{o}')", "OBJ.append(2)"),
        ("x * o[-1]", "OBJ.append(2)"),
        ("x * sum(o)", "OBJ.append(2)"),
        ("x * o.count(2)", "OBJ.append(2)"),
    ),
    *_reads(
        "dict",
        "OBJ = {'k': 2.0}",
        ("x * o['k']", "OBJ['k'] = 5.0"),
        ("x * o.get('k', 1)", "OBJ['k'] = 5.0"),
        ("x * o.get('z', 1)", "OBJ['z'] = 5.0"),
        (_C("'z' in o"), "OBJ['z'] = 5.0"),
        ("x * len(o)", "OBJ['z'] = 5.0"),
        ("x * sum(o.values())", "OBJ['z'] = 5.0"),
        ("x * {**o}['k']", "OBJ['k'] = 5.0"),
        ("x * dict(o)['k']", "OBJ['k'] = 5.0"),
        ("x * (o | {})['k']", "OBJ['k'] = 5.0"),
        ("x * {**{'a': 1}, **o}['k']", "OBJ['k'] = 5.0"),
        ("x * dict(**o)['k']", "OBJ['k'] = 5.0"),
        (_C("o == {'k': 5.0}"), "OBJ['k'] = 5.0"),
        (_C("o.keys() == {'k'}"), "OBJ['z'] = 5.0"),
        ("x * o.copy()['k']", "OBJ['k'] = 5.0"),
        ("x * operator.getitem(o, 'k')", "OBJ['k'] = 5.0"),
        ("x * list(map(o.get, ['k']))[0]", "OBJ['k'] = 5.0"),
        ("x * sum(map(o.__getitem__, ['k']))", "OBJ['k'] = 5.0"),
        ("x * sum(v for k, v in o.items())", "OBJ['k'] = 5.0"),
        ("scale_by(o, x)", "OBJ['k'] = 5.0"),
        ("scale_by_keyword(x, cfg=o)", "OBJ['k'] = 5.0"),
        ("functools.partial(scale_by, o)(x)", "OBJ['k'] = 5.0"),
        ("x * len(f'{o}')", "OBJ['zzz'] = 5.0"),
        ("x * [o, 1][0]['k']", "OBJ['k'] = 5.0"),
        ("x * max([o], key=len)['k']", "OBJ['k'] = 5.0"),
        ("x * (lambda q: q['k'])(o)", "OBJ['k'] = 5.0"),
        ("x * [q['k'] for q in [o]][0]", "OBJ['k'] = 5.0"),
        ("x * dict([('a', o)])['a']['k']", "OBJ['k'] = 5.0"),
        (_C("[o, 1] == [{'k': 5.0}, 1]"), "OBJ['k'] = 5.0"),
        ("x * len(f'{[o]}')", "OBJ['zzz'] = 5.0"),
        ("x * o.setdefault('k', 1)", "OBJ['k'] = 5.0"),
    ),
    *_reads(
        "nested",
        "OBJ = {'n': {'d': [0]}, 't': ([1.0],)}",
        ("x.sum(o['n']['d'])", "OBJ['n']['d'][0] = 1"),
        (_C("o['t'] == ([1.0],)"), "OBJ['t'][0][0] = 2.0"),
        ("x * len(f\"{o['t']}\")", "OBJ['t'][0].append(3)"),
        ("x * sum([*o['t'], [1.0]], [])[0]", "OBJ['t'][0][0] = 2.0"),
        (_C("[o['t']] == [([1.0],)]"), "OBJ['t'][0][0] = 2.0"),
        ("x * sorted([*o['t'], [1.5]])[1][0]", "OBJ['t'][0][0] = 2.0"),
        ("x * [*o['t']].count([1.0])", "OBJ['t'][0][0] = 2.0"),
        ("x * [p for p, in [*o['t']]][0]", "OBJ['t'][0][0] = 2.0"),
        ("taeda.tensor([[[[[o['t'][0]]]]]])", "OBJ['t'][0][0] = 2.0"),
        ("x * dict([[*o['t'][0], 1]]).get(2.0, 3)", "OBJ['t'][0][0] = 2.0"),
        ("x[([0], o['n']['d'])]", "OBJ['n']['d'][0] = 1"),
    ),
    *_reads(
        "object",
        "OBJ = Plain(k=2.0, n=0)",
        ("x * o.k", "OBJ.k = 5.0"),
        ("o.scaled(x)", "OBJ.k = 5.0"),
        ("x * o.twice", "OBJ.k = 5.0"),
        ("x * o[1]", "OBJ.k = 5.0"),
        ("o(x)", "OBJ.k = 5.0"),
        ("x * getattr(o, 'z', 1)", "OBJ.z = 5.0"),
        (_C("hasattr(o, 'z')"), "OBJ.z = 5.0"),
        (_C("isinstance(o, Other)"), "OBJ.__class__ = Other"),
        (_C("type(o) is Other"), "OBJ.__class__ = Other"),
        ("o.scaled(x)", "OBJ.__class__ = Other"),
        ("o.scaled(x)", "Plain.scaled = Other.scaled"),
        ("x * o.twice", "Plain.twice = property(lambda s: s.k * 7)"),
        ("o(x)", "Plain.__call__ = lambda s, x: x * 9"),
        ("x * o[1]", "Plain.__getitem__ = lambda s, k: 9"),
        ("x * object.__getattribute__(o, 'k')", "OBJ.k = 5.0"),
        ("x * o.__dict__['k']", "OBJ.k = 5.0"),
        ("x * operator.attrgetter('k')(o)", "OBJ.k = 5.0"),
        ("list(map(o.scaled, [x]))[0]", "OBJ.k = 5.0"),
        ("functools.partial(o.scaled)(x)", "OBJ.k = 5.0"),
        ("functools.partial(Plain.scaled, o)(x)", "OBJ.k = 5.0"),
        ("[o.scaled][0](x)", "OBJ.k = 5.0"),
        ("functools.reduce(lambda a, m: m(a), [o.scaled], x)", "OBJ.k = 5.0"),
        ("Plain.scaled(o, x)", "OBJ.k = 5.0"),
        ("x * o.__getattribute__('k')", "OBJ.k = 5.0"),
        ("x * {'a': o}['a'].k", "OBJ.k = 5.0"),
    ),
    *_reads(
        "method",
        "INNER = Plain(k=2.0, n=0)\nOBJ = INNER.scaled",
        ("o(x)", "INNER.k = 5.0"),
        ("list(map(o, [x]))[0]", "INNER.k = 5.0"),
        ("x * o.__self__.k", "INNER.k = 5.0"),
        ("functools.partial(o, x)()", "INNER.k = 5.0"),
        ("[o][0](x)", "INNER.k = 5.0"),
        ("o(x)", "INNER.__class__ = Other; INNER.k = 5.0"),
    ),
    *_reads(
        "partial",
        "CFG = {'k': 2.0}\nOBJ = functools.partial(scale_by, CFG)",
        ("o(x)", "CFG['k'] = 5.0"),
        ("x * o.args[0]['k']", "CFG['k'] = 5.0"),
        ("list(map(o, [x]))[0]", "CFG['k'] = 5.0"),
        ("o.func(*o.args, x)", "CFG['k'] = 5.0"),
    ),
    *_reads(
        "keywords",
        "CFG = {'k': 2.0}\nOBJ = functools.partial(scale_by_keyword, cfg=CFG)",
        ("o(x)", "CFG['k'] = 5.0"),
        ("x * o.keywords['cfg']['k']", "CFG['k'] = 5.0"),
        ("o(x)", "OBJ.keywords['cfg'] = {'k': 7.0}"),
    ),
    *_reads(
        "of_dims", "CFG = [0]\nOBJ = functools.partial(taeda.sum, dim=CFG)", ("o(x)", "CFG[0] = 1")
    ),
    *_reads(
        "of_method",
        "INNER = Plain(k=2.0)\nOBJ = functools.partial(INNER.scaled)",
        ("o(x)", "INNER.k = 5.0"),
    ),
    *_reads(
        "getter",
        "CFG = {'k': 2.0, 'a': 3.0}\nOBJ = CFG.get",
        ("x * o('k')", "CFG['k'] = 5.0"),
        ("x * sum(map(o, ['k']))", "CFG['k'] = 5.0"),
        ("x * len(sorted(['k', 'a'], key=o)[0] + 'b') * o('a')", "CFG['a'] = 1.0"),
        (_C("min(['k', 'a'], key=o) == 'a'"), "CFG['a'] = 1.0"),
        (_C("max('ka', key=o) == 'a'"), "CFG['a'] = 1.0"),
    ),
    *_reads(
        "itemgetter",
        "CFG = {'k': 2.0, 'a': 3.0}\nOBJ = CFG.__getitem__",
        ("x * o('k')", "CFG['k'] = 5.0"),
    ),
    *_reads(
        "contains",
        "CFG = {1}\nOBJ = CFG.__contains__",
        ("x * len(list(filter(o, [1, 2])))", "CFG.add(2)"),
        (_C("o(2)"), "CFG.add(2)"),
    ),
    *_reads(
        "attributes",
        "OBJ = AD(k=2.0)",
        ("x * o.k", "OBJ['k'] = 5.0"),
        ("x * o['k']", "OBJ['k'] = 5.0"),
        ("x * getattr(o, 'k')", "OBJ['k'] = 5.0"),
        (_C("hasattr(o, 'k')"), "OBJ['k'] = 5.0"),
    ),
    *_reads(
        "attributes_get",
        "OBJ = AG(k=2.0)",
        ("x * o.k", "OBJ['k'] = 5.0"),
        (_C("o.z is None"), "OBJ['z'] = 1"),
    ),
    *_reads(
        "attributes_python",
        "OBJ = AP(k=2.0)",
        ("x * o.k", "OBJ['k'] = 5.0"),
        ("x * getattr(o, 'z', 3.0)", "OBJ['z'] = 5.0"),
        (_C("hasattr(o, 'z')"), "OBJ['z'] = 5.0"),
        ("x * o.k", "AP.__getattr__ = lambda s, k: 9.0"),
        ("x * o.k", "OBJ.__dict__['k'] = 7.0"),
        ("x * o.k", "AP.k = 8.0"),
    ),
    *_reads(
        "proxy",
        "INNER = Plain(k=2.0)\nOBJ = Proxy(INNER)",
        ("x * o.k", "INNER.k = 5.0"),
        ("o.scaled(x)", "INNER.k = 5.0"),
        ("x * o.k", "OBJ.inner = Plain(k=7.0)"),
        ("x * o.k", "OBJ.k = 7.0"),
    ),
    *_reads(
        "namespace",
        "OBJ = types.SimpleNamespace(k=2.0, q=[1])",
        (_C("o == types.SimpleNamespace(k=5.0, q=[1])"), "OBJ.k = 5.0"),
        ("x * len(f'{o}')", "OBJ.zzz = 5"),
        ("x * sum(o.q)", "OBJ.q.append(1)"),
        ("x * len(repr([o]))", "OBJ.q.append(1)"),
    ),
    *_reads("slots", "OBJ = Slots()\nOBJ.k = 2.0", ("x * o.k", "OBJ.k = 5.0")),
    *_reads("namespace", "OBJ = types.SimpleNamespace(k=2.0)", ("x * o.k", "OBJ.k = 5.0")),
    *_reads(
        "module",
        "OBJ = Scale()",
        ("o(x)", "OBJ.k = 5.0"),
        ("x * o.k", "OBJ.k = 5.0"),
        (_C("1 in o.skip"), "OBJ.skip.add(1)"),
        (_C("o.skip"), "OBJ.skip.add(1)"),
        (_C("not o.names"), "OBJ.names.append(1)"),
        ("x.sum(o.cfg['n']['d'])", "OBJ.cfg['n']['d'][0] = 1"),
        ("o(x)", "OBJ.w = nn.Parameter(taeda.zeros(3), requires_grad=False)"),
        ("o(x)", "Scale.forward = lambda s, x: x * 9"),
        ("o.forward(x)", "OBJ.k = 5.0"),
        ("o(x)", "OBJ.__dict__['k'] = 5.0"),
        ("list(map(o, [x]))[0]", "OBJ.k = 5.0"),
        ("x * o.w", "OBJ.w.data = taeda.zeros(3)"),
    ),
    *_reads(
        "function",
        "def OBJ(x):\n    return x * OBJ.k\nOBJ.k = 2.0",
        ("o(x)", "OBJ.k = 5.0"),
        ("x * o.k", "OBJ.k = 5.0"),
        ("o(x)", "OBJ.__code__ = (lambda x: x * 9).__code__"),
    ),
]

#: pairs of objects, of which the second takes the place of the first
_EXCHANGED = {
    "operation": ("taeda.relu", "taeda.tanh", "o(x - 2)"),
    "method of a tensor": ("taeda.Tensor.relu", "taeda.Tensor.tanh", "o(x - 2)"),
    "function": ("lambda x: x * 2", "lambda x: x * 3", "o(x)"),
    "closure": ("(lambda k: lambda x: x * k)(2)", "(lambda k: lambda x: x * k)(3)", "o(x)"),
    "function of the library": ("F.relu", "F.gelu", "o(x - 2)"),
    "module": ("Scale()", "nn.ReLU()", "o(x - 2)"),
    "method": ("Plain(k=2.0).scaled", "Plain(k=3.0).scaled", "o(x)"),
    "method of another class": ("Plain(k=2.0).scaled", "Other(k=2.0).scaled", "o(x)"),
    "forward": ("Scale().forward", "nn.ReLU().forward", "o(x - 2)"),
    "C method": ("{'k': 2.0}.get", "{'k': 3.0}.get", "x * o('k')"),
    "partial": (
        "functools.partial(scale_by, {'k': 2})",
        "functools.partial(scale_by, {'k': 3})",
        "o(x)",
    ),
    "list": ("[0]", "[1]", "x.sum(o)"),
    "set": ("set()", "{1}", "x * 2 if 1 in o else x * 3"),
    "dict": ("{'k': 2}", "{'k': 3}", "x * o['k']"),
    "float": ("2.0", "3.0", "x * o"),
    "int for bool": ("True", "1", "x * len(repr(o))"),
    "float for int": ("1", "1.0", "x * len(repr(o))"),
    "minus zero": ("0.0", "-0.0", "x * len(repr(o))"),
    "string": ("'a'", "'bb'", "x * len(o)"),
    "none": ("None", "2.0", "x if o is None else x * o"),
    "dtype": ("taeda.float32", "taeda.float64", "x.to(o)"),
    "class": ("Plain", "Other", "o(k=2.0).scaled(x)"),
    "tensor": ("taeda.ones(3)", "taeda.zeros(3)", "x * o"),
    "object": ("Plain(k=2.0)", "Plain(k=3.0)", "o.scaled(x)"),
    "tuple": ("(0, 1)", "(1,)", "x.sum(o)"),
    "tuple of a list": ("([0],)", "([1],)", "x.sum(o[0])"),
    "slice": ("slice(1)", "slice(2)", "x[o]"),
    "attribute dictionary": ("AD(k=2.0)", "AD(k=3.0)", "x * o.k"),
}
IDIOMS += [
    Idiom(f"exchanged {name}", f"OBJ = {first}\nNEW = {second}", use, EXCHANGE)
    for name, (first, second, use) in _EXCHANGED.items()
]

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
    exchanged: str = ""


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
    Place("namedtuple", "Hold = collections.namedtuple('Hold', 'o')\nHOLD = Hold(OBJ)", "HOLD.o"),
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

#: what puts `NEW` in the place of the object
_EXCHANGES = {
    "global": "OBJ = NEW",
    "local": "OBJ = NEW",
    "attribute": "HOLD.o = NEW",
    "attribute twice": "HOLD.h.o = NEW",
    "module": "HOLD.o = NEW",
    "module list": "HOLD.o[0] = NEW",
    "class": "Hold.o[0] = NEW",
    "class of object": "Hold.o = [NEW]",
    "class of new object": "Hold.o = [NEW]",
    "super": "Base.o = [NEW]",
    "property": "HOLD.inner = NEW",
    "attribute dictionary": "HOLD['o'] = NEW",
    "namespace": "HOLD.o = NEW",
    "namedtuple": "HOLD = Hold(NEW)",
    "dataclass": "HOLD.o = NEW",
    "list": "HOLD[0] = NEW",
    "list in list": "HOLD[0][0] = NEW",
    "tuple": "HOLD = (NEW,)",
    "dict": "HOLD['o'] = NEW",
    "dict get": "HOLD['o'] = NEW",
    "deque": "HOLD[0] = NEW",
    "ordered": "HOLD['o'] = NEW",
    "loop": "HOLD[0] = NEW",
    "values": "HOLD['o'] = NEW",
    "new list": "OBJ = NEW",
    "new dict": "OBJ = NEW",
    "unpacked": "HOLD[1] = NEW",
    "default": "f.__defaults__ = (None, NEW)",
    "keyword default": "f.__kwdefaults__ = {'o': NEW}",
    "default of helper": "got.__defaults__ = (NEW,)",
    "result of helper": "OBJ = NEW",
    "closure": "got = around(NEW)",
    "partial": "got = functools.partial(lambda o: o, NEW)",
    "keyword of partial": "got.keywords['o'] = NEW",
    "args of partial": "HOLD = functools.partial(print, NEW)",
    "bound method": "HOLD.o = NEW",
    "bound method in list": "HOLD.o = NEW",
    "bound C method": "HOLD['o'] = NEW",
    "map of C method": "HOLD['o'] = NEW",
    "attribute of function": "got.o = NEW",
    "argument": "OBJ = NEW",
    "attribute of argument": "HOLD.o = NEW",
    "module as argument": "HOLD.o = NEW",
    "list as argument": "OBJ = NEW",
    "attribute dictionary as argument": "HOLD['o'] = NEW",
}
PLACES = [replace(place, exchanged=_EXCHANGES[place.name]) for place in PLACES]

#: programs by themselves, for what has no place
_ALONE: dict[str, tuple[str, str, str] | tuple[str, str, str, str]] = {
    "super, base replaced": (
        ("class Base(Plain):\n    def m(self, x):\n        return x * 2\n"
        "class Sub(Base):\n    def m(self, x):\n        return super().m(x)\nOBJ = Sub()"),
        "OBJ.m(x)", "Base.m = lambda s, x: x * 3",
    ),
    "super of a new object": (
        ("class Base(Plain):\n    k = 2.0\n"
        "class Sub(Base):\n    def m(self, x):\n        return x * super().k"),
        "Sub().m(x)", "Base.k = 3.0",
    ),
    "explicit super": (
        "class Base(Plain):\n    def m(self, x):\n        return x * 2\nclass Sub(Base):\n    pass\nOBJ = Sub()",
        "super(Sub, OBJ).m(x)", "Base.m = lambda s, x: x * 3",
    ),
    "super with a property": (
        ("class Base(Plain):\n    p = property(lambda s: s.k)\n"
        "class Sub(Base):\n    p = property(lambda s: super(Sub, s).p)\nOBJ = Sub(k=2.0)"),
        "x * OBJ.p", "Base.p = property(lambda s: 9.0)",
    ),
    "forward of a base": (
        ("class Base(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
        "class Sub(Base):\n    def forward(self, x):\n        return super().forward(x)\nOBJ = Sub()"),
        "OBJ(x)", "Base.forward = lambda s, x: x * 3",
    ),
    "forward of a layer under a subclass": (
        "KEPT = nn.ReLU.forward\nclass Sub(nn.ReLU):\n    def forward(self, x):\n        return super().forward(x) * 1\nOBJ = Sub()",
        "OBJ(x - 2)", "nn.ReLU.forward = lambda s, x: x * 3", "setattr(nn.ReLU, 'forward', KEPT)",
    ),
    "class attribute that was None": (
        "class K:\n    bias = None", "x if K().bias is None else x + K().bias", "K.bias = 1.0",
    ),
    "class attribute that was absent": (
        "class K:\n    pass", "x * 2 if hasattr(K(), 'z') else x * 3", "K.z = 1.0",
    ),
    "default of getattr": ("class K:\n    pass", "x * getattr(K(), 'z', 2.0)", "K.z = 1.0"),
    "class attribute of a module": (
        "class M(nn.Module):\n    act = taeda.relu\n    def forward(self, x):\n        return self.act(x - 2)\nOBJ = M()",
        "OBJ(x)", "M.act = taeda.tanh",
    ),
    "isinstance of a union": (
        "import abc\nclass K(abc.ABC):\n    pass\nOBJ = Plain()", "x * 2 if isinstance(OBJ, int | K) else x * 3", "K.register(Plain)",
    ),
    "isinstance of many": (
        "import abc\nclass K(abc.ABC):\n    pass\nOBJ = Plain()", "x * 2 if isinstance(OBJ, (int, (K, str))) else x * 3", "K.register(Plain)",
    ),
    "bases exchanged": (
        "class A:\n    k = 2.0\nclass B:\n    k = 3.0\nclass K(A):\n    pass\nOBJ = K()",
        "x * OBJ.k + x * K().k", "K.__bases__ = (B,)",
    ),
    "registered in an ABC": (
        "import abc\nclass K(abc.ABC):\n    pass\nOBJ = Plain()",
        "x * 2 if isinstance(OBJ, K) else x * 3", "K.register(Plain)",
    ),
    "registered in an ABC, a new object": (
        "import abc\nclass K(abc.ABC):\n    pass", "x * 2 if isinstance(Plain(), K) else x * 3", "K.register(Plain)",
    ),
    "subclass of an ABC": (
        "import abc\nclass K(abc.ABC):\n    pass", "x * 2 if issubclass(Plain, K) else x * 3", "K.register(Plain)",
    ),
    "runtime protocol": (
        "import typing\n@typing.runtime_checkable\nclass K(typing.Protocol):\n    def z(self): ...\nOBJ = Plain()",
        "x * 2 if isinstance(OBJ, K) else x * 3", "OBJ.z = 1",
    ),
    "singledispatch": (
        "@functools.singledispatch\ndef g(v):\n    return 2.0", "x * g(1)", "g.register(int, lambda v: 3.0)",
    ),
    "singledispatch in C": (
        "import math\ng = functools.singledispatch(math.sqrt)", "x * g(4.0)", "g.register(float, math.exp)",
    ),
    "finalizer": (
        "import weakref\nLOG = []", "(weakref.finalize(Plain(), LOG.append, 1), x * 2)[1]", "pass", "list(LOG)",
    ),
    "exit stack": (
        "import contextlib\nLOG = []\ndef g(x):\n    with contextlib.ExitStack() as s:\n        s.callback(LOG.append, 1)\n        return x * 2",
        "g(x)", "pass", "list(LOG)",
    ),
    "decorator that counts": (
        ("LOG = []\ndef counted(g):\n    add = LOG.append\n    def call(x):\n        add(1)\n        return g(x)\n    return call\n"
        "@counted\ndef g(x):\n    return x * 2"),
        "g(x)", "pass", "list(LOG)",
    ),
    "attribute that appends": (
        "class K:\n    def __init__(self):\n        self.vals = []\n        self.add = self.vals.append\nOBJ = K()",
        "(OBJ.add(1), x * 2)[1]", "pass", "list(OBJ.vals)",
    ),
    "sorted by a table": ("T = {'a': 1, 'b': 2}", "x * (2 if sorted('ab', key=T.get)[0] == 'a' else 3)", "T['a'] = 5"),
    "list sorted by a table": (
        "T = {'a': 1, 'b': 2}\ndef g():\n    q = ['a', 'b']\n    q.sort(key=T.get)\n    return q[0]",
        "x * (2 if g() == 'a' else 3)", "T['a'] = 5",
    ),
    "two lists compared": ("A, B = [1], [2]", "x * 2 if [A, B] == [[1], [2]] else x * 3", "A[0] = 5"),
    "sum of lists": ("A, B = [1], [2]", "x * sum([A, B], [])[0]", "A[0] = 5"),
    "sorted lists": ("A, B = [1], [2]", "x * sorted([A, B])[0][0]", "A[0] = 5"),
    "list in a text": ("A = [1]", "x * len(f'{[A]}')", "A.append(5)"),
    "dict of a pair": ("PAIR = ['a', 2.0]", "x * dict([PAIR])['a']", "PAIR[1] = 3.0"),
    "count of a list": ("A = [1]", "x * [A].count([1])", "A[0] = 5"),
    "pairs unpacked": ("A, B = [1, 2], [3, 4]", "x * sum(p for p, q in [A, B])", "A[0] = 5"),
    "spread into a dict": ("D = {'k': 2.0}", "x * {**D}['k']", "D['k'] = 3.0"),
    "key that is new": ("D = {'k': 2.0}", "x * {**{'k': 1.0}, **D}['k']", "D.clear()"),
    "a function of the library": (
        "KEPT = taeda.sin", "taeda.sin(x)", "taeda.sin = taeda.cos", "setattr(taeda, 'sin', KEPT)",
    ),
    "a method of all tensors": (
        "KEPT = taeda.Tensor.sin", "x.sin()", "taeda.Tensor.sin = taeda.Tensor.cos", "setattr(taeda.Tensor, 'sin', KEPT)",
    ),
    "a function in F": ("KEPT = F.relu", "F.relu(x - 2)", "F.relu = F.gelu", "setattr(F, 'relu', KEPT)"),
    "a builtin": ("def mine(v):\n    return 5", "x * len([1])", "import builtins; globals()['len'] = mine"),
    "frozen dataclass": (
        "@dataclasses.dataclass(frozen=True)\nclass K:\n    k: float\nOBJ = K(2.0)", "x * OBJ.k", "object.__setattr__(OBJ, 'k', 5.0)",
    ),
    "set in an argument": ("S = set()", "x * 2 if 1 in arg else x * 3", "S.add(1)", "None", "S"),
    "set in a list in an argument": ("S = set()", "x * 2 if 1 in arg[0] else x * 3", "S.add(1)", "None", "[S]"),
    "partial as an argument": ("CFG = {'k': 2.0}\nOBJ = functools.partial(scale_by, CFG)", "arg(x)", "CFG['k'] = 3.0", "None", "OBJ"),
    "method as an argument": ("OBJ = Plain(k=2.0)", "arg(x)", "OBJ.k = 3.0", "None", "OBJ.scaled"),
    "C method as an argument": ("LOG = []", "(arg(1), x * 2)[1]", "pass", "list(LOG)", "LOG.append"),
    "an argument that is a global list": ("G = [2.0]", "x * G[0] + arg[0]", "G = [3.0]", "None", "G"),
    "an argument that is a global tensor": ("W = taeda.ones(3)\nA = W", "x * W + arg", "A = taeda.zeros(3)", "None", "A"),
    "an argument that becomes a global tensor": ("W = taeda.ones(3)\nA = taeda.zeros(3)", "(arg.add_(1), x * W)[1]", "A = W", "None", "A"),
    "identity of an argument": ("W = taeda.ones(3)\nA = W", "x * 2 if arg is W else x * 3", "A = taeda.ones(3)", "None", "A"),
    "identity of lists": ("G = [1]\nA = G", "x * 2 if arg is G else x * 3", "A = [1]", "None", "A"),
    "one list twice": ("G = [1]\nA = (G, G)", "x * 2 if arg[0] is arg[1] else x * 3", "A = (G, [1])", "None", "A"),
    "state as an argument": (
        ("class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.h0 = taeda.ones(3)\n"
        "    def forward(self, x, h):\n        return x + (h - self.h0)\nOBJ = M()\nH = OBJ.h0"),
        "OBJ(x, arg)", "H = taeda.full((3,), 5.0)", "None", "H",
    ),
    "offset of a slice": ("BASE = taeda.arange(20.0)\nN = 1", "x * arg.storage_offset()", "N = 2", "None", "BASE[N:N + 3]"),
    "whether it is a view": ("A = taeda.ones(3)", "x * 2 if arg._is_view() else x * 3", "A = taeda.ones(5)[:3]", "None", "A"),
    "whether it is set to another": ("W = taeda.ones(3)\nA = W[:]", "x * 2 if arg.is_set_to(W) else x * 3", "A = taeda.ones(3)", "None", "A"),
    "dtype of autocast": (
        "KEPT = taeda.get_autocast_dtype('cpu')\ndef g(x):\n    with taeda.autocast('cpu'):\n        return (x @ x).dtype",
        "x.to(g(x)) + 0.001", "taeda.set_autocast_dtype('cpu', taeda.float16)", "taeda.set_autocast_dtype('cpu', KEPT)",
    ),
    "a unit inside of an eager program": (
        ("CFG = Plain(k=2.0)\nclass B(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.act = CFG.scaled\n"
        "    def forward(self, x):\n        return self.act(x) + x.sin() * 2\nOBJ = B()\n"
        "def g(x):\n    y = OBJ(x)\n    return y / y.norm().item()"),
        "g(x)", "CFG.k = 5.0",
    ),
    "class of a module": (
        "class Twice(Scale):\n    def forward(self, x):\n        return x * 20\nOBJ = Scale()", "OBJ(x)", "OBJ.__class__ = Twice",
    ),
    "slots": ("class K:\n    __slots__ = ('a', 'b')\nOBJ = K()\nOBJ.a = [1]", "x * sum(OBJ.a)", "OBJ.a.append(2)"),
    "keyword default that grows": ("def g(*, k=[1]):\n    return len(k)\nL = g.__kwdefaults__['k']", "x * g()", "L.append(2)"),
    "keyword default that comes": ("def g(*, k):\n    return k\ndef h():\n    return g(k=2)", "x * h()", "g.__kwdefaults__ = {'k': 5}"),
    "nested partial": ("CFG = {'k': 2.0}\nOBJ = functools.partial(functools.partial(scale_by_keyword, cfg=CFG))", "OBJ(x)", "CFG['k'] = 3.0"),
    "method of a method": (
        "class K:\n    def m(self, x):\n        return self.inner(x)\nINNER = Plain(k=2.0)\nOBJ = K()\nOBJ.inner = INNER.scaled\nH = {'m': OBJ.m}",
        "H['m'](x)", "INNER.k = 3.0",
    ),
    "class method": (
        "class K:\n    k = [2.0]\n    @classmethod\n    def m(cls, x):\n        return x * cls.k[0]\nH = [K.m]", "H[0](x)", "K.k[0] = 3.0",
    ),
    "static method": ("CFG = [2.0]\nclass K:\n    @staticmethod\n    def m(x):\n        return x * CFG[0]\nH = [K().m]", "H[0](x)", "CFG[0] = 3.0"),
    "property over a table": ("CFG = {'k': 2.0}\nclass K:\n    p = property(lambda s: CFG['k'])", "x * K().p", "CFG['k'] = 3.0"),
    "property in C": ("CFG = Plain(k=2.0)\nclass K:\n    p = property(operator.attrgetter('q.k'))\n    q = CFG", "x * K().p", "CFG.k = 3.0"),
    "getter of a class in C": ("CFG = {'k': 2.0}\nclass K:\n    __getattr__ = CFG.get", "x * K().__getattr__('k')", "CFG['k'] = 3.0"),
    "unseen attribute of a new object": ("CFG = {'k': 2.0}\nclass K:\n    __getattr__ = staticmethod(CFG.get)", "x * K().k", "CFG['k'] = 3.0"),
    "chain map": ("CFG = {'k': 2.0}\nOBJ = collections.ChainMap({}, CFG)", "x * OBJ['k']", "CFG['k'] = 3.0"),
    "user dict": ("OBJ = collections.UserDict(k=2.0)", "x * OBJ['k']", "OBJ['k'] = 3.0"),
    "counter": ("OBJ = collections.Counter('aab')", "x * OBJ['a'] + OBJ['z']", "OBJ['z'] = 3"),
    "default dict": ("OBJ = collections.defaultdict(lambda: 2.0)", "x * OBJ['a']", "OBJ['a'] = 3.0", "dict(OBJ)"),
    "ordered dict moved": ("OBJ = collections.OrderedDict(a=2, b=3)", "x * next(iter(OBJ.values()))", "OBJ.move_to_end('a')"),
    "enum member": ("import enum\nclass C(enum.Enum):\n    A = 1", "x * getattr(C.A, 'k', 2.0)", "C.A.k = 3.0"),
    "del of an attribute": ("OBJ = Plain(k=2.0, z=1)", "x * 2 if hasattr(OBJ, 'z') else x * 3", "del OBJ.z"),
    "frozenset of a global": ("OBJ = frozenset({1})", "x * 2 if 1 in OBJ else x * 3", "OBJ = frozenset()"),
    "bytearray": ("OBJ = bytearray(b'a')", "x * OBJ[0]", "OBJ[0] = 5"),
    "array": ("import array\nOBJ = array.array('d', [2.0])", "x * OBJ[0]", "OBJ[0] = 5"),
    "numpy array": ("import numpy\nOBJ = numpy.ones(3)", "x * float(OBJ[0])", "OBJ[0] = 5"),
    "iterator": ("OBJ = iter(range(100))", "x * next(OBJ)", "pass"),
    "generator": ("OBJ = (i for i in range(100))", "x * next(OBJ)", "pass"),
    "counter of itertools": ("import itertools\nOBJ = itertools.count()", "x * next(OBJ)", "pass"),
    "cached function": ("@functools.lru_cache\ndef g(k):\n    LOG.append(k)\n    return k\nLOG = []", "x * g(2)", "g.cache_clear()", "list(LOG)"),
    "cached property": (
        "LOG = []\nclass K:\n    @functools.cached_property\n    def p(self):\n        LOG.append(1)\n        return 2.0\nOBJ = K()",
        "x * OBJ.p", "OBJ.__dict__.pop('p', None)", "list(LOG)",
    ),
    "weak reference": ("import weakref\nKEPT = Plain(k=2.0)\nOBJ = weakref.ref(KEPT)", "x * (OBJ().k if OBJ() else 7)", "KEPT.k = 3.0"),
    "weak dict": ("import weakref\nKEPT = Plain(k=2.0)\nOBJ = weakref.WeakValueDictionary(a=KEPT)", "x * OBJ['a'].k", "KEPT.k = 3.0"),
    "global that goes": ("Z = 2.0\ndef g():\n    try:\n        return Z\n    except NameError:\n        return 5.0", "x * g()", "globals().pop('Z')"),
    "default argument of a class": ("class K:\n    def __init__(self, a=[2.0]):\n        self.a = a\nL = K.__init__.__defaults__[0]", "x * K().a[0]", "L[0] = 3.0"),
    "default factory": (
        "BASE = [2.0]\n@dataclasses.dataclass\nclass K:\n    a: list = dataclasses.field(default_factory=lambda: list(BASE))", "x * K().a[0]", "BASE[0] = 3.0",
    ),
    "post init": (
        "CFG = {'k': 2.0}\n@dataclasses.dataclass\nclass K:\n    a: float\n    def __post_init__(self):\n        self.a *= CFG['k']", "x * K(1.0).a", "CFG['k'] = 3.0",
    ),
    "named tuple of a list": ("T = collections.namedtuple('T', 'a')\nOBJ = T([0])", "x.sum(OBJ.a)", "OBJ.a[0] = 1"),
    "attribute of a module of Python": ("M = types.ModuleType('m')\nM.k = 2.0", "x * M.k", "M.k = 3.0"),
    "dict of a module of Python": ("M = types.ModuleType('m')\nM.k = 2.0", "x * M.__dict__['k']", "M.k = 3.0"),
    "mapping proxy": ("D = {'k': 2.0}\nOBJ = types.MappingProxyType(D)", "x * OBJ['k']", "D['k'] = 3.0"),
    "view of a dict": ("D = {'k': 2.0}\nOBJ = D.values()", "x * sum(OBJ)", "D['k'] = 3.0"),
    "reversed list": ("A = [1.0, 2.0]", "x * next(reversed(A))", "A.append(3.0)"),
    "zip": ("A, B = [1.0], [2.0]", "x * sum(a * b for a, b in zip(A, B))", "B[0] = 3.0"),
    "enumerate": ("A = [1.0]", "x * sum(i + a for i, a in enumerate(A))", "A[0] = 3.0"),
    "star of a call": ("A = [0]", "x.sum(*A)", "A[0] = 1"),
    "double star of a call": ("A = {'dim': 0}", "x.sum(**A)", "A['dim'] = 1"),
    "slice of a list": ("A = [0, 1]", "x.sum(A[:1])", "A[0] = 1"),
    "list put into a list": ("A = [0]\ndef g(x):\n    q = []\n    q.append(A)\n    return x.sum(q[0])", "g(x)", "A[0] = 1"),
    "list put into an object": ("A = [0]\ndef g(x):\n    q = Plain()\n    q.a = A\n    return x.sum(q.a)", "g(x)", "A[0] = 1"),
    "list out of a dict made inside": ("A = [0]", "x.sum(dict(a=A)['a'])", "A[0] = 1"),
    "list out of a partial made inside": ("A = [0]", "functools.partial(taeda.sum, dim=A)(x)", "A[0] = 1"),
    "list through a library function": ("A = [0]", "x.sum(taeda.utils._pytree.tree_map(lambda v: v, {'a': A})['a'])", "A[0] = 1"),
    "list joined in place": ("A = [0]\ndef g(x):\n    q = []\n    q += A\n    return x.sum(q)", "g(x)", "A[0] = 1"),
    "set joined in place": ("A = {1}\ndef g(x):\n    q = {2}\n    q |= A\n    return x * len(q)", "g(x)", "A.add(5)"),
    "dict joined in place": ("A = {'k': 2.0}\ndef g(x):\n    q = {}\n    q |= A\n    return x * q['k']", "g(x)", "A['k'] = 5.0"),
    "list times a number": ("A = [0]", "x.sum((A * 1))", "A[0] = 1"),
    "comparison that comes": ("A, B = Plain(), Plain()", "x * 2 if A == B else x * 3", "Plain.__eq__ = lambda s, o: True"),
    "comparison that comes, in a list": ("A, B = Plain(), [Plain()]", "x * 2 if A in B else x * 3", "Plain.__eq__ = lambda s, o: True"),
    "comparison that comes, by a method": ("A, B = Plain(), [Plain()]", "x * (1 + B.count(A))", "Plain.__eq__ = lambda s, o: True"),
    "comparison that comes, in tuples": ("A, B = Plain(), Plain()", "x * 2 if (A,) == (B,) else x * 3", "Plain.__eq__ = lambda s, o: True"),
    "comparison that comes, new objects": ("", "x * 2 if Plain() == Plain() else x * 3", "Plain.__eq__ = lambda s, o: True"),
    "truth that comes": ("A = Plain()", "x * 2 if A else x * 3", "Plain.__bool__ = lambda s: False"),
    "truth that comes, not": ("A = Plain()", "x * 2 if not A else x * 3", "Plain.__bool__ = lambda s: False"),
    "truth that comes, or": ("A = Plain()", "x * 2 if A or 0 else x * 3", "Plain.__len__ = lambda s: 0"),
    "truth that comes, filter": ("A = Plain()", "x * len(list(filter(None, [A])))", "Plain.__len__ = lambda s: 0"),
    "truth that comes, any": ("A = Plain()", "x * 2 if any([A]) else x * 3", "Plain.__len__ = lambda s: 0"),
    "text that comes": ("class K:\n    def __repr__(self):\n        return 'a'\nA = K()", "x * len(f'{A}')", "K.__str__ = lambda s: 'abc'"),
    "sum that comes": ("class K(Plain):\n    def __radd__(self, other):\n        return 2.0\nA = K()", "x * (1 + A)", "K.__radd__ = lambda s, o: 5.0"),
    "comparison of classes": ("class M(type):\n    pass\nclass A(metaclass=M):\n    pass\nclass B(metaclass=M):\n    pass", "x * 2 if A == B else x * 3", "M.__eq__ = lambda s, o: True; M.__hash__ = lambda s: 1"),
    "truth of a class": ("class M(type):\n    pass\nclass A(metaclass=M):\n    pass", "x * 2 if A else x * 3", "M.__bool__ = lambda s: False"),
    "array of a subclass, compared": ("import array\nclass R(array.array):\n    pass\nA, B = R('d', [1]), R('d', [1])", "x * 2 if A == B else x * 3", "A[0] = 5"),
    "array of a subclass, tested": ("import array\nclass R(array.array):\n    pass\nA = R('d')", "x * 2 if A else x * 3", "A.append(5)"),
    "array of a subclass, added": ("import array\nclass R(array.array):\n    pass\nA = R('d', [1])", "x * (A + A)[0]", "A[0] = 5"),
    "array of a subclass, in a text": ("import array\nclass R(array.array):\n    pass\nA = R('d', [1])", "x * len(f'{A}')", "A.append(5)"),
    **{
        f"{name} of tensors": (
            f"KEPT = taeda.Tensor.{name}", use, f"taeda.Tensor.{name} = {by}", f"setattr(taeda.Tensor, '{name}', KEPT)",
        )
        for name, use, by in (
            ("__mul__", "x * 2", "lambda s, o: KEPT(s, 7)"), ("__rsub__", "2 - x", "lambda s, o: KEPT(s, 7)"),
            ("__getitem__", "x[0] + 0", "lambda s, k: KEPT(s, 1)"), ("__len__", "x + len(x)", "lambda s: 7"),
            ("__neg__", "-x", "lambda s: KEPT(KEPT(s))"), ("__iadd__", "operator.iadd(x.clone(), 1)", "lambda s, o: KEPT(s, 7)"),
            ("__eq__", "(x == 2).float()", "lambda s, o: s > 3"), ("__iter__", "sum(v for v in x)", "lambda s: iter([s[0]])"),
        )
    },
    "partial, exchanged inside": ("OBJ = functools.partial(scale_by, {'k': 2.0})", "OBJ(x)", "OBJ.__setstate__((scale_by, ({'k': 7.0},), {}, {}))"),
    "partial, its keywords exchanged": (
        "OBJ = functools.partial(scale_by_keyword, cfg={'k': 2.0})", "OBJ(x)", "OBJ.__setstate__((scale_by_keyword, (), {'cfg': {'k': 7.0}}, {}))",
    ),
    "layer, by its dict": ("OBJ = nn.LeakyReLU(0.5)", "OBJ(x - 4)", "OBJ.__dict__['negative_slope'] = 0.1"),
    "layer, past its class": ("OBJ = nn.LeakyReLU(0.5)", "OBJ(x - 4)", "object.__setattr__(OBJ, 'negative_slope', 0.1)"),
    "layer, another dict": ("OBJ = nn.LeakyReLU(0.5)", "OBJ(x - 4)", "object.__setattr__(OBJ, '__dict__', {**OBJ.__dict__, 'negative_slope': 0.1})"),
    "layer, forward by its dict": ("OBJ = nn.ReLU()", "OBJ(x - 4)", "OBJ.__dict__['forward'] = lambda x: x * 9"),
    "layer, list of its own": ("OBJ = nn.AdaptiveAvgPool1d([2])", "OBJ(x)", "OBJ.output_size[0] = 3"),
    "truth of a module": ("OBJ = nn.ModuleList()", "x * 2 if OBJ else x * 3", "OBJ.append(nn.ReLU())"),
    "collector, asked": ("import gc\ngc.enable()", "x * 2 if gc.isenabled() else x * 3", "gc.disable()", "gc.enable()"),
    "collector, stopped": ("import gc\ngc.enable()", "(gc.disable(), x * 2)[1]", "gc.enable()", "gc.isenabled()"),
    "globals of a caller": (
        "import sys\nA = 2.0\ndef g():\n    return sys._getframe(1).f_globals['A']", "x * g()", "globals()['A'] = 3.0",
    ),
    "variables of a caller": (
        "import sys\ndef g():\n    return sys._getframe(1).f_back.f_locals['k']\ndef h():\n    return g()\ndef at(x):\n    k = 2.0\n    return x * h()", "at(x)", "pass",
    ),
    "line of a warning": (
        ("import warnings\ndef g(x):\n    warnings.warn('a')\n    return x * 2\ndef h(x):\n    with warnings.catch_warnings(record=True) as got:\n"
        "        warnings.simplefilter('always')\n        y = g(x)\n        LOG.append((got[0].lineno, got[0].filename[:16]))\n    return y\nLOG = []"),
        "h(x)", "pass", "list(LOG)",
    ),
    "conditional import of state": ("import sys\nsys.modules['a_state'] = S = types.ModuleType('a_state')\nS.k = 2.0", "x * __import__('a_state').k", "S.k = 3.0"),
}  # fmt: skip


def _alone(setup: str, use: str, change: str, state: str = "None", arg: str = "None") -> str:
    names = "OBJ, CFG, G, A, H, N, W, K, KEPT"
    return (
        f"{HEAD}\n{setup}\ndef f(x, arg=None):\n    return {use}\n"
        f"def argument():\n    return {arg}\ndef change():\n    global {names}\n    {change}\n"
        f"def state():\n    return {state}\n"
    )


EXTRA: list[tuple[str, str]] = [(name, _alone(*parts)) for name, parts in _ALONE.items()]


def programs() -> Iterator[tuple[str, str]]:
    """(name, text) of every idiom in every place."""
    for idiom, place in itertools.product(IDIOMS, PLACES):
        yield f"{idiom.name} in {place.name}", text_of(idiom, place)


def text_of(idiom: Idiom, place: Place) -> str:
    body = f"    {place.body}\n" if place.body else ""
    change = place.exchanged if idiom.change == EXCHANGE else idiom.change
    return (
        f"{HEAD}\n{idiom.made}\n{place.setup}\n{place.head}\n{body}"
        f"    o = {place.expression}\n    return {idiom.use}\n"
        f"def argument():\n    return {place.arg}\n"
        f"def change():\n    global OBJ, CFG, INNER, HOLD, got\n    {change or 'pass'}\n"
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
