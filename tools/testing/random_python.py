"""Random programs in Python with state in containers, callables and modules, which changes between
calls: `made(seed)` is one, `outcome` what comes of it, `smallest` what is left of one that fails.

Each statement stands by itself (`y` goes from one to the next), so any of them can be left out.
"""

from __future__ import annotations

import contextlib
import linecache
import random
import re
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import taeda

__all__ = ["CALLS", "Program", "made", "outcome", "smallest"]

CALLS = 8
NAME = "a_random_program"
_relu = taeda.Tensor.relu
HEAD = """
import collections, contextlib, contextvars, copy, dataclasses, enum, functools, itertools, math
import operator, random, sys, types, weakref
import taeda
from taeda import nn
from taeda.utils.checkpoint import checkpoint

class Plain:
    shared = 2.0
    def __init__(self, k):
        self.k, self.n, self.flag, self.log = k, 0, True, []
    def scaled(self, y):
        return y * self.k
    def noted(self, y):
        self.log.append(1)
        return y + 1
    @property
    def twice(self):
        return self.k * 2
    def __call__(self, y):
        return y + self.k
    def __getitem__(self, key):
        return self.k + key

class Other(Plain):
    def scaled(self, y):
        return super().scaled(y) + 1

class AD(dict):
    __getattr__ = dict.__getitem__

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.k, self.names, self.inner = 2.0, [1.0], nn.Linear(3, 3)
    def forward(self, y):
        return self.inner(y) * self.k + len(self.names)

def keeping():
    value = 1.5
    def get():
        return value
    def put(new):
        nonlocal value
        value = new
    return get, put

def with_default(y, k=2.0, *, c=[1.0]):
    return y * k + c[0]

def by(k, y):
    return y * k[0]

taeda.manual_seed(0)
random.seed(0)
G, G2, L, D, S, T = 2.0, 0, [1.0, 2.0], {"k": 1.5}, {3}, taeda.ones(3)
DIM, LOG, Q = [0], [], collections.deque([1.0, 2.0])
o, p, sub, ad, m = Plain(1.5), Plain(2.5), Other(0.5), AD(k=3.0), Layer()
H, held, part, get, put = [o.scaled], o.noted, functools.partial(by, L), *keeping()
push, pick, IT = LOG.append, D.get, itertools.count(1)
opt = taeda.optim.SGD(m.parameters(), lr=0.1, momentum=0.5)
table = {"relu": taeda.relu, "own": o.scaled}
leaky, layers, up = nn.LeakyReLU(0.5), nn.ModuleList([nn.Tanh()]), nn.Upsample(size=[3])
nested = {"a": [{"b": p.scaled}], "k": Plain(2.0)}
held_dict = types.SimpleNamespace(d={"k": 2.0}).d
NT = collections.namedtuple("NT", "flag rows")
nt = NT(True, ([1.0],))

def gen(values):
    for value in values:
        yield value * 2

@dataclasses.dataclass
class Rec:
    k: float
    v: list
rec = Rec(1.5, [1.0])

class E(enum.Enum):
    A = [1.0]

class K1:
    k = 2.0

class K2(K1):
    pass

class Call(Plain):
    def __call__(self, y):
        return super().__call__(y) * self.inner["k"]
C_ = Call(1.0)
C_.inner = {"k": 2.0}

@dataclasses.dataclass(slots=True)
class Slotted:
    k: float
    v: list
slotted = Slotted(1.25, [2.0])

@dataclasses.dataclass(frozen=True)
class Frozen:
    k: float
    v: tuple = ()
frozen = Frozen(1.5, ([1.0],))

class Bare:
    __slots__ = ("k", "__weakref__")
bare = Bare()
bare.k = 0.75
ref, soft = weakref.ref(bare), weakref.WeakValueDictionary(bare=bare)
var = contextvars.ContextVar("var", default=1.5)

class Data:
    def __init__(self, key):
        self.key = key
    def __get__(self, owner, kind=None):
        return self if owner is None else vars(owner)[self.key] * 2
    def __set__(self, owner, value):
        vars(owner)[self.key] = value + 1

class Loose:
    def __get__(self, owner, kind=None):
        return 3.0

class Described:
    a, b = Data("_a"), Loose()
    def __init__(self):
        self.a = 1.0
        self.rest = {"c": 0.5}
    def __getattr__(self, name):
        try:
            return self.__dict__["rest"][name]
        except KeyError:
            raise AttributeError(name)
des = Described()

class Vec:
    def __init__(self, v):
        self.v = v
    def __add__(self, other):
        return Vec(self.v + (other.v if isinstance(other, Vec) else other))
    __radd__ = __add__
    def __lt__(self, other):
        return self.v < other.v
    def __len__(self):
        return 2
    def __contains__(self, key):
        return key < self.v
    def __iter__(self):
        return iter([self.v, 1.0])
    def __hash__(self):
        return hash(self.v)
    def __eq__(self, other):
        return isinstance(other, Vec) and self.v == other.v
    def __float__(self):
        return self.v
    def __format__(self, spec):
        return "v" * int(abs(self.v))
    def __matmul__(self, y):
        return y * self.v
vec = Vec(2.0)

class Around:
    def __init__(self, k):
        self.k = k
    def __enter__(self):
        return self.k
    def __exit__(self, kind, error, trace):
        return kind is KeyError
around = Around(1.5)

@contextlib.contextmanager
def scaled(k):
    try:
        yield k * L[0]
    finally:
        pass

class Meta(type):
    k = 1.5
    def __call__(cls, *args):
        return super().__call__(*args)

class Made(metaclass=Meta):
    table = {"k": 2.0}
    @classmethod
    def of_class(cls):
        return cls.table["k"]
    @staticmethod
    def plain(y):
        return y * G
    def __init_subclass__(cls):
        cls.table = dict(cls.table)

class Below(Made):
    pass

@functools.lru_cache
def cached(n):
    return n * G

@functools.singledispatch
def by_kind(value, y):
    return y + 1
@by_kind.register
def _(value: float, y):
    return y * value

def hooked(g):
    return g * L[0]

def endless():
    n = 0
    while True:
        n += 1
        yield n
running = endless()

def traced(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs) * D["k"]
    return inner

@traced
def decorated(y):
    return y + G

def deep(y, n):
    return y if n <= 0 else deep(y * G, n - 1)

def both(y, *, by=(o, sub)):
    for one in by:
        y = one.scaled(y)
    return y
"""

READS = """
y = y * G
y = y * L[0] + len(L)
y = y * D["k"]
y = y * D.get("z", 2.0)
y = y * pick("k")
y = y * 2 if 1 in S else y * 3
y = y + sum(S)
y = y * o.k
y = y * getattr(o, "z", 1.5)
y = y + 1 if hasattr(p, "z") else y - 1
y = o.scaled(y)
y = sub.scaled(y)
y = p(y) * p[1]
y = y * o.twice
y = H[0](y)
y = H[-1](y)
y = part(y)
y = y * get()
y = with_default(y)
y = y + y.sum(DIM, keepdim=True)
y = y + y.mean(dim=DIM, keepdim=True)
y = m(y)
y = m.inner(y) * m.k
y = y * T
y = y * ad.k
y = table["relu"](y) + table["own"](y)
y = y * sys.modules["a_random_program"].G
y = copy.copy(o).scaled(y)
y = functools.reduce(lambda a, b: a * b, L, y)
y = y * max(L) + min(Q)
y = y + sum(map(D.get, ["k"]))
y = y * Plain.shared + o.shared
y = y + math.sqrt(abs(G))
y = y * 2 if isinstance(o, Other) else y * 3
y = y * operator.itemgetter("k")(D)
y = y * len(f"{L}{S}")
y = y + taeda.rand(3, 3)
y = taeda.stack([y * v for v in L]).sum(0)
y = (lambda z: z * G)(y)
y = y * next(iter(L))
y = y.clone().mul_(G)
y = y.relu() if o.flag else y.tanh()
y = m.inner(y @ y).float()
y = (m(y) @ m.inner.weight).float()
y = type(o)(2.0).scaled(y)
y = y * 2 if o == p else y - 1
y = y * 3 if p in [o, sub] else y + 1
y = y + 2 if o and sub else y * 0.5
y = y * [o, p].index(p) + 1
y = (leaky(y) - y).relu()
y = layers[0](y) if layers else y
y = y * len(layers)
y = C_(y)
y = nested["a"][0]["b"](y) * nested["k"].k
y = y + sum(v for v in gen(L))
y = y * rec.k + sum(rec.v)
y = held_dict.pop("k", 1.0) * y if False else y * held_dict["k"]
y = up(y[None])[0]
y = y * (S | {7} > {7}) + (L < [5.0])
y = operator.methodcaller("mul", 2.0)(y) if o.flag is True else y
y = y.new_tensor(L).sum() * y
y, w = (y, y * 2) if nt.flag else (y * 2, y)
y = y + nt.rows[0][0]
y = y * E.A.value[0]
y = y * K2().k
y = both(y)
y = y + (T * T).sum()
y = y * sum(z.k for z in [o, p, sub])
y = y * dict(zip("ab", L))["a"]
y = next(v for v in [y * G, y])
y = y * functools.partial(max, key=D.get)(D)[0:1].count("k")
y = y * weight
y = weight - y
y = y + (1 - weight) * y
y = y * (2 if weight > 0.5 else 3)
y = y * max(weight, 0.25)
y = y + math.sqrt(weight)
y = y / (weight + 1.0)
y = y * slotted.k + sum(slotted.v)
y = y * frozen.k + frozen.v[0][0]
y = y * bare.k
y = y * ref().k if ref() is not None else y
y = y * soft["bare"].k
y = y * var.get()
y = y * des.a + des.b
y = y * des.c
y = y + (vec + 1.0).v
y = y + (1.0 + vec).v
y = y * 2 if vec < Vec(3.0) else y * 3
y = y * len(vec) + sum(vec)
y = y * 2 if 1.5 in vec else y
y = y * {vec: 2.0}.get(Vec(2.0), 5.0)
y = y * len(f"{vec}")
y = y * float(vec)
y = vec @ y
y = y + sum([vec, vec], Vec(0.0)).v
y = y * max([vec, Vec(1.0)]).v
y = y * Made.of_class() + Made.k
y = Below.plain(y) * Below.table["k"]
y = y * cached(2)
y = by_kind(G, y)
y = decorated(y)
y = deep(y, 2)
y = y * copy.deepcopy(D)["k"]
y = y * vars(o)["k"]
y = y * o.__dict__["k"]
y = y * {**D, "w": 1.0}["k"]
y = y * [*L, 1.0][0]
y = y * (lambda *a, k=G, **b: a[0] * k + b["z"])(2.0, z=L[0])
y = y * next(iter(D.values()))
y = y * dict(D).pop("k")
y = y * getattr(Made, "table")["k"]
y = y * (G if o.flag else L[0] if S else 1.0)
y = y * (not o.flag) + y
y = taeda.where(y > G, y, y * L[0])
y = y.clamp(max=G * 10)
y = y * sum(i * v for i, v in enumerate(L))
y = y * (a := L[0]) + a
y = y * [v for v in L if v > 0][0]
y = y * {k: v for k, v in D.items()}["k"]
y = y * len({v for v in L})
y = y * "k".join(["a", "b"]).count("k")
y = nn.functional.dropout(y, 0.5, m.training)
y = y * type("T", (), {"k": 2.0}).k
y = y * len(sorted(D, key=lambda k: D[k]))
y = y * operator.attrgetter("k")(o)
y = y + sum(itertools.accumulate(L))
y = y * dataclasses.asdict(rec)["k"]
y = y * len(dataclasses.fields(rec))
y = y * (1 if callable(o) else 2) * (1 if isinstance(o, collections.abc.Callable) else 2)
y = y * sum(x_.k for x_ in filter(lambda x_: x_.flag, [o, p]))
y = y * (o.k if o is not p else 7.0)
""".strip().splitlines()

BLOCKS = [
    ["for v in L:", "    y = y + v"],
    ["for k, v in D.items():", "    y = y * len(k) + v"],
    ["with taeda.no_grad():", "    y = y * G"],
    ["try:", "    y = y * D['q']", "except KeyError:", "    y = y + 1"],
    ["if o.flag and L[0] > 0:", "    y = y * 2", "else:", "    y = y - L[-1]"],
    ["while y.dim() < 2:", "    y = y[None]"],
    ["def inner(z):", "    return z * G + o.k", "y = inner(y)"],
    ["match D:", "    case {'k': k}:", "        y = y + k"],
    [
        "opt.zero_grad()", "loss = m(x).square().mean()", "loss.backward()", "opt.step()",
        "y = y + loss.detach()",
    ],
    ["if x.sum() > 30:", "    raise ValueError('large')"],
    ["with around as k:", "    y = y * k"],
    ["with around as k:", "    y = y * k + D['q']"],
    ["with scaled(G) as k:", "    y = y * k"],
    ["with contextlib.suppress(KeyError):", "    y = y * D['q']"],
    [
        "try:", "    y = y * D['q']", "except KeyError as e:", "    y = y + len(e.args)", "finally:",
        "    y = y * G",
    ],
    ["try:", "    y = y * G", "finally:", "    y = y + L[-1]"],
    ["for n, v in zip(running, L):", "    y = y * v + n"],
    [
        "for v in (v * G for v in L):", "    y = y + v", "    if v > 3:", "        break", "else:",
        "    y = y * 2",
    ],
    ["h = y * 1.5", "if h.requires_grad:", "    h.register_hook(hooked)", "y = h + 1"],
    ["h = y * 1.5", "if h.requires_grad:", "    h.retain_grad()", "y = h + 1"],
    ["def inner(n):", "    nonlocal y", "    y = y * G + n", "inner(2)"],
    [
        "w = taeda.zeros(3, requires_grad=True)",
        "(g,) = taeda.autograd.grad((w.exp() * y.detach()).sum() * G, w)", "y = y + g",
    ],
    ["loss = m(x).square().mean() * G", "loss.backward()", "y = y + loss.detach()"],
    ["loss = (m(x) * T).sum()", "loss.backward()", "opt.step()", "y = y + loss.detach()"],
    ["opt.zero_grad()", "loss = (m(x) * weight).square().mean()", "loss.backward()",
        "nn.utils.clip_grad_norm_(m.parameters(), G)", "opt.step()", "y = y + loss.detach()"],
    ["y = checkpoint(lambda z: z.sin() * G + o.k, y, use_reentrant=False)"],
    ["y = checkpoint(m, y, use_reentrant=False)"],
    ["share = random.random()", "y = y * share + (1 - share)"],
    ["token = var.set(2.5)", "y = y * var.get()", "var.reset(token)"],
]  # fmt: skip

WRITES = """
LOG.append(1)
push(2)
o.n += 1
o.log.append(G)
D["n"] = D.get("n", 0) + 1
S.add(len(S))
T.add_(1)
x.mul_(2)
x[0] = 0
y = held(y)
G2 += 1
y = y * next(IT)
y = y * random.random()
y = y - 1 if y.sum().item() > 20 else y
setattr(p, "z", 2.0)
m.k = m.k + 1
Q.rotate(1)
m.inner.bias.grad = None
LOG.append(y.sum().item())
y = y * next(running)
y = y * random.uniform(0.5, 1.5)
y = y * random.choice(L)
des.a = G
des.rest["n"] = len(LOG)
slotted.v.append(G)
slotted.k = G
bare.k = G
var.set(G)
LOG.append(weight)
o.last = weight
D["w"] = weight
Made.table["n"] = G
vec.v = vec.v + 1
setattr(des, "d", 1.0)
object.__setattr__(frozen, "k", G)
LOG.__iadd__([G])
LOG.extend(v for v in L)
L.sort(reverse=True)
del LOG[:]
D.update(n=G)
cached.cache_clear()
random.seed(3)
""".strip().splitlines()

RETURNS = ["y", "(y, y * 2)", '{"y": y, "n": o.n}', "y.sum().item()", "[y, x]", "y, G2, len(LOG)"]

CHANGES = """
G = G + 1
L[0] = L[0] + 1
L.append(3.0)
D["k"] = D["k"] + 1
D["q"] = 2.0
D["z"] = 3.0
S.add(1)
o.k = o.k + 1
o.z = 4.0
o.flag = not o.flag
o.__class__ = Other
H[0] = p.scaled
H.append(p)
part = functools.partial(by, [5.0])
put(get() + 1)
with_default.__defaults__ = (3.0,)
with_default.__kwdefaults__["c"][0] = 4.0
DIM[0] = 1 - DIM[0]
m.k = m.k + 1
m.names.append(1.0)
m.inner = nn.Linear(3, 3)
m.eval()
T = taeda.full((3,), 2.0)
T.mul_(2)
ad["k"] = 5.0
table["relu"] = taeda.tanh
table["own"] = p.scaled
Plain.shared = Plain.shared + 1
Plain.scaled = lambda self, y: y * self.k + 2
Plain.__call__ = lambda self, y: y - self.k
Plain.twice = property(lambda self: 7.0)
o = p
p.k = 9.0
sub.k = 2.0
Q.appendleft(-1.0)
opt.param_groups[0]["lr"] = 0.5
m.inner.weight.requires_grad_(False)
m.zero_grad()
m.zero_grad(set_to_none=False)
opt.zero_grad()
m.inner.weight.grad = taeda.ones(3, 3)
pick = {"k": 8.0}.get
random.seed(5)
taeda.manual_seed(3)
Plain.__eq__ = lambda self, other: True
Plain.__bool__ = lambda self: False
Plain.__len__ = lambda self: 0
leaky.__dict__["negative_slope"] = 2.0
object.__setattr__(leaky, "negative_slope", 3.0)
leaky.forward = lambda y: y * 2
leaky.__class__ = nn.Tanh
layers.append(nn.ReLU())
layers[0] = nn.Sigmoid()
del layers[0]
up.size[0] = 4
C_.inner["k"] = 4.0
Plain.__call__ = lambda self, y: y
Call.__call__ = lambda self, y: y * 7
nested["a"][0]["b"] = o.scaled
nested["a"].insert(0, {"b": sub.scaled})
nested["k"].k = 0.5
rec.v.append(2.0)
rec = dataclasses.replace(rec, k=0.25)
held_dict["k"] = 5.0
held_dict = dict(held_dict, k=7.0)
nt = nt._replace(flag=False)
nt.rows[0][0] = 6.0
E.A.value[0] = 4.0
K1.k = 5.0
K2.__bases__ = (types.new_class("K0", (object,), {}, lambda space: space.update(k=6.0)),)
both.__kwdefaults__ = {"by": (p,)}
both.__kwdefaults__["by"] = (sub, p)
part.__setstate__((by, ([6.0],), {}, {}))
T.requires_grad_(True)
T.data = taeda.full((3,), 3.0)
T.resize_(1)
copy_of_o = copy.deepcopy(o); o = copy_of_o
taeda.Tensor.relu = taeda.Tensor.tanh
m._parameters["none"] = None
m.inner._parameters["weight"] = nn.Parameter(taeda.ones(3, 3))
vars(m)["k"] = 9.0
D.clear(); D["k"] = 2.5
L[:] = [4.0]
L.reverse()
sub.__class__ = Plain
slotted.k = 3.0
slotted.v.append(1.0)
slotted = Slotted(0.5, [1.0])
object.__setattr__(frozen, "k", 4.0)
frozen.v[0].append(1.0); frozen.v[0][0] = 3.0
frozen = Frozen(0.5, ([2.0],))
bare.k = 2.0
bare = Bare(); bare.k = 5.0
soft["bare"] = slotted_ref = Bare(); slotted_ref.k = 6.0
ref = weakref.ref(o)
var.set(3.0)
des.a = 4.0
des._a = 7.0
des.rest["c"] = 2.5
vars(des)["c"] = 8.0
Described.c = 9.0
Described.b = 4.0
vars(des)["b"] = 6.0
Data.__get__ = lambda self, owner, kind=None: 5.0
Described.a.key = "b"
Loose.__set__ = lambda self, owner, value: None; Loose.__get__ = lambda self, owner, kind=None: 2.0
Described.__getattr__ = lambda self, name: 6.0
Described.__getattribute__ = lambda self, name: 2.0
vec.v = 3.0
Vec.__add__ = lambda self, other: Vec(9.0)
Vec.__radd__ = lambda self, other: Vec(8.0)
Vec.__lt__ = lambda self, other: False
Vec.__contains__ = lambda self, key: False
Vec.__iter__ = lambda self: iter([4.0])
Vec.__hash__ = lambda self: 1
Vec.__eq__ = lambda self, other: False
Vec.__float__ = lambda self: 4.0
Vec.__format__ = lambda self, spec: "abc"
Vec.__matmul__ = lambda self, y: y - 1
Vec.__gt__ = lambda self, other: True
around.k = 2.5
Around.__enter__ = lambda self: 4.0
Around.__exit__ = lambda self, kind, error, trace: False
Meta.k = 3.0
Made.table = {"k": 5.0}
Made.table["k"] = 6.0
Below.table["k"] = 7.0
Made.of_class = classmethod(lambda cls: 4.0)
Made.plain = staticmethod(lambda y: y + 5)
cached = lambda n: 3.0
by_kind.register(float, lambda value, y: y - 2)
hooked.__code__ = (lambda g: g * 3).__code__
decorated.__wrapped__.__code__ = (lambda y: y * 3).__code__
deep = lambda y, n: y * 5
running = iter([5, 6, 7, 8])
m.inner.weight.register_hook(lambda g: g * 2)
m.register_forward_hook(lambda mod, args, out: out * 2)
m.inner.bias.register_post_accumulate_grad_hook(lambda q: None)
Plain.__getattr__ = lambda self, name: 2.0
Plain.__getattribute__ = lambda self, name: 2.0 if name == "k" else object.__getattribute__(self, name)
Plain.k = property(lambda self: 9.0, lambda self, value: None)
Plain.__contains__ = lambda self, key: True
Plain.__iter__ = lambda self: iter([1])
del Plain.twice; Plain.twice = 3.0
math = types.SimpleNamespace(sqrt=lambda v: 2.0)
max = lambda *a, **k: 3.0
len = lambda v: 4
sys.modules["a_random_program"].__dict__["G"] = 9.0
random.setstate(random.Random(7).getstate())
m.__class__ = type("Layer2", (Layer,), {"forward": lambda self, y: y * 2})
m.forward = lambda y: y * 3
m.inner.register_parameter("bias", None)
taeda.set_default_dtype(taeda.float64)
""".strip().splitlines()

STATE = [
    "G, G2, L, D, S, T.tolist(), LOG, list(Q), m.k, random.random(), taeda.rand(1).item()",
    "[q.tolist() for q in m.parameters()]",
    "[None if q.grad is None else q.grad.tolist() for q in m.parameters()]",
    "vars(o), vars(p)", "vars(des)", "slotted, frozen", "bare.k, var.get(), vec.v, Made.table",
    "next(running, None)",
]  # fmt: skip


BEFORE = [
    "m.zero_grad()",
    "m.zero_grad(set_to_none=False)",
    "opt.step(); opt.zero_grad()",
    "G += 0.5",
]


@dataclass(frozen=True)
class Program:
    """Statements of the function, what it returns, and what changes before which call.

    `grown` says whether what it is given wants gradients. `region` is one of autocast: around
    "each" call, its backward apart, or around "pairs" of calls. `weights` are what the calls get as a
    number, in turns; without them it has a default. `before` runs before every call.
    """

    body: tuple[tuple[str, ...], ...]
    returns: str
    changes: tuple[tuple[int, str], ...]
    grown: bool
    region: str = ""
    weights: tuple[float, ...] = ()
    before: str = ""

    def text(self) -> str:
        lines = [f"    {line}" for statement in self.body for line in statement]
        return "\n".join(
            [
                HEAD,
                "def f(x, weight=1.0):",
                "    global G2",
                "    y = x",
                *lines,
                f"    return {self.returns}",
            ]
        )


def made(seed: int) -> Program:
    """The program of a seed."""
    own = random.Random(seed)
    body: list[tuple[str, ...]] = [(s,) for s in own.choices(READS, k=own.randint(1, 5))]
    body += [tuple(b) for b in own.sample(BLOCKS, own.choice([0, 0, 1, 1, 2]))]
    own.shuffle(body)
    for write in own.sample(WRITES, own.choice([0, 0, 0, 1, 2])):
        body.insert(own.choice([len(body), own.randint(0, len(body))]), (write,))
    changes = tuple(
        (own.randint(3, CALLS - 2), _change(own, body)) for _ in range(own.randint(1, 3))
    )
    returns, grown = own.choice(RETURNS), own.random() < 0.3
    region = own.choice(["each", "pairs"]) if own.random() < 0.2 else ""
    weights = own.choice([(), (), (0.5,), (0.25, 0.75, 1.5, -0.0, 1e300)])
    before = own.choice(["", *(change for change in BEFORE if _names(change) & _names_of(body))])
    return Program(tuple(body), returns, changes, grown or bool(region), region, weights, before)


#: names in changes that say nothing of what the change is about
_COMMON = frozenset(
    {"lambda", "self", "y", "k", "n", "v", "key", "value", "owner", "kind", "name", "other", "g"}
    | {"nn", "taeda", "types", "weakref", "random", "dict", "iter", "object", "vars", "float"}
)


def _names(text: str) -> set[str]:
    return set(re.findall(r"[A-Za-z_]\w*", text)) - _COMMON


def _names_of(body: list[tuple[str, ...]]) -> set[str]:
    return _names(" ".join(line for statement in body for line in statement))


def _change(own: random.Random, body: list[tuple[str, ...]]) -> str:
    """A change, mostly of something that the body names."""
    named = _names_of(body)
    near = [change for change in CHANGES if named & _names(change.partition(" = ")[0])]
    return own.choice(near if near and own.random() < 0.75 else CHANGES)


def outcome(program: Program, compile: Callable[[Any], Any]) -> list[str]:
    """What each call gives, the gradient of its argument, and the state after it."""
    filename = f"<{NAME}>"
    text = program.text() + "\n"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    module = sys.modules[NAME] = types.ModuleType(NAME)
    space = vars(module)
    try:
        exec(_code(text, filename), space)
        f = compile(space["f"])
        told: list[str] = []
        for number in range(0, CALLS, 2):
            with _region(program, "pairs"):
                told += _called(program, number, f, space)
                told += _called(program, number + 1, f, space)
        return told
    finally:
        del linecache.cache[filename], sys.modules[NAME]
        taeda.Tensor.relu = _relu
        taeda.set_default_dtype(taeda.float32)


def _region(program: Program, kind: str) -> Any:
    """A region of autocast, if this is the kind that the program has."""
    on = program.region == kind
    return taeda.autocast("cpu", dtype=taeda.bfloat16) if on else contextlib.nullcontext()


def _code(text: str, filename: str) -> Any:
    return compile(text, filename, "exec")


def _changed(change: str, space: dict[str, Any]) -> None:
    """A change; another one may forbid it, or have taken its object away."""
    with contextlib.suppress(AttributeError, LookupError, RuntimeError, TypeError):
        exec(change, space)


def _called(program: Program, number: int, f: Any, space: dict[str, Any]) -> list[str]:
    for when, change in program.changes:
        if when == number:
            _changed(change, space)
    _changed(program.before, space)
    leaf = (taeda.arange(9.0).reshape(3, 3) / 4 + number).requires_grad_(program.grown)
    x = leaf * 1
    try:
        with _region(program, "each"):
            result = f(x, *_weight(program, number))
        told = repr(_told(result))
        if program.grown:
            _walk(result, space["m"])
    except Exception as error:  # noqa: BLE001 - what it raises is what came of it
        text = str(error).partition(", input of ")[0]  # of linear, or of the node of a graph
        told = f"{type(error).__name__}: {text}"
    gradient = None if leaf.grad is None else leaf.grad.tolist()
    return [told, repr(gradient), repr(x.tolist()), *(_part(text, space) for text in STATE)]


def _part(text: str, space: dict[str, Any]) -> str:
    """A part of the state; a change may have made it impossible to read."""
    try:
        return repr(eval(text, space))
    except Exception as error:  # noqa: BLE001 - the same for both
        return type(error).__name__


def _weight(program: Program, number: int) -> tuple[float, ...]:
    """The number that a call is given; none if the program has a default."""
    given = program.weights
    return given and (float(repr(given[number % len(given)])),)


def _told(value: Any) -> Any:
    if isinstance(value, taeda.Tensor):
        return value.dtype, value.requires_grad, value.tolist()
    if isinstance(value, dict):
        return {k: _told(v) for k, v in value.items()}
    return type(value)(map(_told, value)) if isinstance(value, list | tuple) else value


def _walk(value: Any, module: Any) -> None:
    first = value
    while isinstance(first, list | tuple | dict):
        first = next(iter(first.values() if isinstance(first, dict) else first))
    if isinstance(first, taeda.Tensor) and first.requires_grad:
        try:
            first.sum().backward()
        except RuntimeError:
            module.zero_grad()  # how far it came is another thing in a graph (docs/compile.md)
            raise


def smallest(program: Program, fails: Callable[[Program], bool]) -> Program:
    """What is left when all that is not needed to fail is left out."""
    again = True
    while again:
        again = False
        for name in ("body", "changes"):
            parts = getattr(program, name)
            for n in range(len(parts)):
                less = replace(program, **{name: parts[:n] + parts[n + 1 :]})
                if fails(less):
                    program, again = less, True
                    break
    return program
