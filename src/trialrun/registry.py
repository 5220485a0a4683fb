"""Name → plug-in. This package's rooms first, then entry points, then `module:Name`.

A room is searched by file name: the check `max_tool_calls` is the class with that key in
`checks/max_tool_calls.py`, so adding one is adding a file, and using one imports one file.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trialrun.errors import PluginError, crash

if TYPE_CHECKING:
    from trialrun.checks.base import Check
    from trialrun.metrics.base import BaseMetric

CHECKS = "trialrun.checks"
METRICS = "trialrun.metrics"
"""The packages of our own plug-ins, and the groups of other people's entry points."""

_NOT_PLUGINS = {"base"}


@cache
def our_names(room: str) -> tuple[str, ...]:
    """The names of this package's own plug-ins of that room, sorted."""
    from pkgutil import iter_modules

    path = import_module(room).__path__
    return tuple(
        sorted(
            module.name
            for module in iter_modules(path)
            if module.name not in _NOT_PLUGINS and not module.name.startswith("_")
        )
    )


@cache
def _entry_points(room: str) -> dict[str, Any]:
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group=room)}


def check_names() -> list[str]:
    """The names of all checks that are installed."""
    return sorted({*our_names(CHECKS), *_entry_points(CHECKS)})


def metric_names() -> list[str]:
    """The names of all metrics that are installed."""
    return sorted({*our_names(METRICS), *_entry_points(METRICS)})


def find_check(name: str, folder: str | None = None) -> type[Check] | None:
    """The check of that name, or None if there is none. `folder` is where a spec's modules lie."""
    from trialrun.checks.base import Check, own_fields

    found = _find(CHECKS, name, "key", folder)
    if found is not None and not (isinstance(found, type) and issubclass(found, Check)):
        raise PluginError(f"`{name}` is {_described(found)}, not a check")
    if found is not None and "key" not in vars(found):
        raise PluginError(f"`{name}` is a Check that is not decorated with @check")
    if found is not None and not own_fields(found):
        raise PluginError(f"`{name}` has no field that could take a value")
    return found


def find_metric(name: str, folder: str | None = None) -> type[BaseMetric] | None:
    """The metric of that name, or None if there is none."""
    from trialrun.metrics.base import BaseMetric

    found = _find(METRICS, name, "name", folder)
    if found is not None and not (isinstance(found, type) and issubclass(found, BaseMetric)):
        raise PluginError(f"`{name}` is {_described(found)}, not a subclass of BaseMetric")
    return found


def _described(found: object) -> str:
    return f"the class {found.__name__}" if isinstance(found, type) else repr(found)


def _find(room: str, name: str, attribute: str, folder: str | None) -> Any:
    if ":" in name:
        return import_object(name, folder)
    if name in our_names(room):
        return _in_module(f"{room}.{name}", attribute, name)
    point = _entry_points(room).get(name)
    if point is None:
        return None
    try:
        return point.load()
    except BaseException as error:
        raise PluginError(
            f"`{name}`, entry point {point.value}, cannot be imported: {crash(error)}"
        ) from error


@cache
def _in_module(module: str, attribute: str, name: str) -> Any:
    for value in vars(import_module(module)).values():
        if isinstance(value, type) and value.__dict__.get(attribute) == name:
            return value
    raise AssertionError(f"{module} defines no class with {attribute} = {name!r}")


def import_object(reference: str, folder: str | None = None) -> Any:
    """What `module:Name` names. Modules beside the spec, and in the working folder, are found."""
    module_name, _, path = reference.partition(":")
    if not module_name or not path or module_name.startswith("."):
        raise PluginError(f"`{reference}` is not of the form module:Name")
    _make_findable(module_name, folder)
    try:
        found: Any = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise PluginError(f"`{reference}`: there is no module {error.name!r}") from None
        raise PluginError(f"`{reference}` cannot be imported: {crash(error)}") from error
    except BaseException as error:
        raise PluginError(f"`{reference}` cannot be imported: {crash(error)}") from error
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise PluginError(f"`{reference}`: {module_name} has no {path!r}") from None
        except BaseException as error:
            raise PluginError(f"`{reference}` cannot be had: {crash(error)}") from error
    return found


def _make_findable(module: str, folder: str | None) -> None:
    """Put the spec's folder first on the path, then the working folder.

    Two suites may each have a `checks.py` beside them: one that was imported for the other suite
    is forgotten, or the second suite would be judged by the first one's code.
    """
    for place in ("", folder):
        if place is not None:
            if place in sys.path:
                sys.path.remove(place)
            sys.path.insert(0, place)
    if folder is None:
        return
    top = module.partition(".")[0]
    own = [Path(folder) / f"{top}.py", Path(folder) / top / "__init__.py"]
    here = next((file.resolve() for file in own if file.is_file()), None)
    loaded = getattr(sys.modules.get(top), "__file__", None)
    if here is not None and loaded is not None and Path(loaded).resolve() != here:
        for name in [name for name in sys.modules if name.partition(".")[0] == top]:
            del sys.modules[name]
