"""Where a program finds an object, and what puts another one there."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["PLACES", "Place"]


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
