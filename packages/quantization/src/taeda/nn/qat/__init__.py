"""`taeda.ao.nn.qat` at its older place."""

from taeda.ao._older_place import modules_below as _modules_below
from taeda.ao.nn.qat import *  # noqa: F403 - that package names what it gives

globals().update(_modules_below(__name__, "taeda.ao.nn.qat"))
