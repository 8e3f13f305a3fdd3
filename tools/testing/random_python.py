"""Random programs in Python with state in containers, callables and modules, which changes between
calls: `made(seed)` is one, `outcome` what comes of it, `smallest` what is left of one that fails.

Each statement stands by itself (`y` goes from one to the next), so any of them can be left out.
"""

from __future__ import annotations

import contextlib
import linecache
import random
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
import collections, copy, dataclasses, enum, functools, itertools, math, operator, random, sys, types
import taeda
from taeda import nn

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
""".strip().splitlines()

STATE = (
    "G, G2, L, D, S, T.tolist(), LOG, list(Q), vars(o), vars(p), m.k, random.random(), "
    "taeda.rand(1).item(), [q.tolist() for q in m.parameters()], "
    "[None if q.grad is None else q.grad.tolist() for q in m.parameters()]"
)


@dataclass(frozen=True)
class Program:
    """Statements of the function, what it returns, and what changes before which call.

    `grown` says whether what it is given wants gradients. `region` is one of autocast: around
    "each" call, its backward apart, or around "pairs" of calls.
    """

    body: tuple[tuple[str, ...], ...]
    returns: str
    changes: tuple[tuple[int, str], ...]
    grown: bool
    region: str = ""

    def text(self) -> str:
        lines = [f"    {line}" for statement in self.body for line in statement]
        return "\n".join(
            [HEAD, "def f(x):", "    global G2", "    y = x", *lines, f"    return {self.returns}"]
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
        (own.randint(3, CALLS - 2), change) for change in own.sample(CHANGES, own.randint(1, 3))
    )
    returns, grown = own.choice(RETURNS), own.random() < 0.3
    region = own.choice(["each", "pairs"]) if own.random() < 0.2 else ""
    return Program(tuple(body), returns, changes, grown or bool(region), region)


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


def _region(program: Program, kind: str) -> Any:
    """A region of autocast, if this is the kind that the program has."""
    on = program.region == kind
    return taeda.autocast("cpu", dtype=taeda.bfloat16) if on else contextlib.nullcontext()


def _code(text: str, filename: str) -> Any:
    return compile(text, filename, "exec")


def _called(program: Program, number: int, f: Any, space: dict[str, Any]) -> list[str]:
    for when, change in program.changes:
        if when == number:
            # another change may forbid this one
            with contextlib.suppress(LookupError, RuntimeError, TypeError):
                exec(change, space)
    leaf = (taeda.arange(9.0).reshape(3, 3) / 4 + number).requires_grad_(program.grown)
    x = leaf * 1
    try:
        with _region(program, "each"):
            result = f(x)
        told = repr(_told(result))
        if program.grown:
            _walk(result, space["m"])
    except Exception as error:  # noqa: BLE001 - what it raises is what came of it
        text = str(error).partition(", input of ")[0]  # of linear, or of the node of a graph
        told = f"{type(error).__name__}: {text}"
    gradient = None if leaf.grad is None else leaf.grad.tolist()
    return [told, repr(gradient), repr(x.tolist()), repr(eval(STATE, space))]


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
