"""Programs by themselves, for what has no place."""

from __future__ import annotations

from .head import HEAD

__all__ = ["EXTRA"]

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
