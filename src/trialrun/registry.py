"""Finds plug-ins by name: checks, metrics, importers, reports, kinds of agents and stores.

Each kind has a package in this project with one module per plug-in, and the plug-in has the name
of its module: adding a plug-in means adding a file, and using one imports only that file.
Third-party plug-ins are found by entry points whose group is the name of our package, or are named
in a spec as `module:Name`.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trialrun.errors import PluginError, crash
from trialrun.util.entry_points import entry_points

if TYPE_CHECKING:
    from types import ModuleType

    from trialrun.agents.base import AgentKind
    from trialrun.checks.base import Check
    from trialrun.importers.base import Importer
    from trialrun.metrics.base import BaseMetric
    from trialrun.reports.base import Report
    from trialrun.store.backends.base import Database


class PluginKind:
    """One kind of plug-in: our package, the base class, the attribute that holds the name."""

    def __init__(self, package: str, base: str, attribute: str, noun: str) -> None:
        self.package = package
        self.base = base
        self.attribute = attribute
        self.noun = noun


CHECKS = PluginKind("trialrun.checks", "Check", "key", "a check")
METRICS = PluginKind("trialrun.metrics", "BaseMetric", "name", "a subclass of BaseMetric")
IMPORTERS = PluginKind("trialrun.importers", "Importer", "name", "a subclass of Importer")
REPORTS = PluginKind("trialrun.reports", "Report", "name", "a subclass of Report")
AGENTS = PluginKind("trialrun.agents", "AgentKind", "name", "a subclass of AgentKind")
STORES = PluginKind("trialrun.store.backends", "Database", "name", "a subclass of Database")


@cache
def our_names(kind: PluginKind) -> tuple[str, ...]:
    """The names of trialrun's built-in plug-ins of this kind, sorted."""
    from pkgutil import iter_modules

    return tuple(
        sorted(
            module.name
            for module in iter_modules(import_module(kind.package).__path__)
            if module.name != "base" and not module.name.startswith("_") and not module.ispkg
        )
    )


@cache
def _entry_points(kind: PluginKind) -> dict[str, Any]:
    return {point.name: point for point in entry_points(kind.package)}


def names(kind: PluginKind) -> list[str]:
    """The names of all installed plug-ins of this kind."""
    return sorted({*our_names(kind), *_entry_points(kind)})


def find(kind: PluginKind, name: str, folder: str | None = None) -> Any:
    """The class with this name, or None. `folder` is the spec's: its modules can be imported."""
    if ":" in name:
        found = import_object(name, folder)
    elif name in our_names(kind):
        return _in_module(f"{kind.package}.{name}", kind.attribute, name)
    elif name in _entry_points(kind):
        found = _load(name, _entry_points(kind)[name])
    else:
        return None
    if kind is CHECKS and callable(found) and not isinstance(found, type):
        found = _function_check(name, found)
    base = getattr(import_module(f"{kind.package}.base"), kind.base)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise PluginError(f"`{name}` is {_described(found)}, not {kind.noun}")
    return found


def _function_check(name: str, function: Any) -> Any:
    from trialrun.checks._functions import kind_of

    try:
        return kind_of(function)
    except (TypeError, ValueError) as error:  # TypeError: a callable that cannot be hashed
        raise PluginError(f"`{name}` is {_described(function)}, not a check: {error}") from None


def find_all(kind: PluginKind) -> dict[str, Any]:
    """Every plug-in of this kind by name, ours first; PluginError if one cannot be loaded."""
    return {name: find(kind, name) for name in our_names(kind)} | find_others(kind)


def find_others(kind: PluginKind) -> dict[str, Any]:
    """Every plug-in of this kind from other packages by name."""
    third_party = [name for name in _entry_points(kind) if name not in our_names(kind)]
    return {name: find(kind, name) for name in sorted(third_party)}


def find_check(name: str, folder: str | None = None) -> type[Check] | None:
    """The check with this name, or None."""
    from trialrun.checks.base import own_fields

    found: type[Check] | None = find(CHECKS, name, folder)
    if found is not None and "key" not in vars(found):
        raise PluginError(f"`{name}` is a Check that is not decorated with @check")
    if found is not None and not own_fields(found):
        raise PluginError(f"`{name}` has no field that could take a value")
    return found


def all_checks() -> list[type[Check]]:
    """Every installed check, sorted by name."""
    return [found for name in names(CHECKS) if (found := find_check(name)) is not None]


def find_metric(name: str, folder: str | None = None) -> type[BaseMetric] | None:
    """The metric with this name, or None."""
    found: type[BaseMetric] | None = find(METRICS, name, folder)
    return found


def all_metrics() -> list[type[BaseMetric]]:
    """Every installed metric, sorted by name."""
    return [found for name in names(METRICS) if (found := find_metric(name)) is not None]


def importers() -> dict[str, type[Importer]]:
    """Every importer by name."""
    return find_all(IMPORTERS)


def reports() -> dict[str, type[Report]]:
    """Every report by name."""
    return find_all(REPORTS)


def our_agent_kinds() -> dict[str, type[AgentKind]]:
    """The built-in kinds of agents by name; entry points are not searched."""
    return {name: find(AGENTS, name) for name in our_names(AGENTS)}


def agent_kinds() -> dict[str, type[AgentKind]]:
    """Every kind of agent by name."""
    return find_all(AGENTS)


def store_backend(scheme: str) -> type[Database] | None:
    """The database for locations that begin with `scheme://`; "" means the path of a file."""
    kinds = (find(STORES, name) for name in our_names(STORES))
    ours: type[Database] | None = next((kind for kind in kinds if scheme in kind.schemes), None)
    if ours is not None:  # entry points need not be searched
        return ours
    return next((kind for kind in find_all(STORES).values() if scheme in kind.schemes), None)


def _described(found: object) -> str:
    return f"the class {found.__name__}" if isinstance(found, type) else repr(found)


def _load(name: str, point: Any) -> Any:
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


def import_object(reference: str, folder: str | None = None, is_agent: bool = False) -> Any:
    """The object that `module:Name` names; searches the spec's folder and the working folder.

    For an agent, these folders stay first on `sys.path`, as in a program of its own.
    """
    module_name, _, path = reference.partition(":")
    if not module_name or not path or module_name.startswith("."):
        raise PluginError(f"`{reference}` is not of the form module:Name")
    _prepare_import(module_name, folder)
    try:
        found: Any = import_module(module_name)
        _require_assertions(reference, found)
    except PluginError:
        raise
    except ModuleNotFoundError as error:
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise PluginError(f"`{reference}`: there is no module {error.name!r}") from None
        raise PluginError(f"`{reference}` cannot be imported: {crash(error)}") from error
    except BaseException as error:
        raise PluginError(f"`{reference}` cannot be imported: {crash(error)}") from error
    finally:
        if not is_agent:
            _search_last()
    for part in path.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise PluginError(f"`{reference}`: {module_name} has no {path!r}") from None
        except BaseException as error:
            raise PluginError(f"`{reference}` cannot be loaded: {crash(error)}") from error
    return found


_added: set[str] = set()
"""Folders that were put on `sys.path` for plug-ins."""


def _search_last() -> None:
    """Search the folders of plug-ins last from now on.

    A `rich.py` beside the spec must not replace the library that a report is about to import.
    """
    for place in [place for place in sys.path if place in _added]:
        sys.path.remove(place)
        sys.path.append(place)


def _require_assertions(reference: str, module: ModuleType) -> None:
    """Refuse a module with assertions under `python -O`, where they hold without being tested."""
    if not sys.flags.optimize:
        return
    import ast
    import inspect

    try:
        source = inspect.getsource(module)
    except (OSError, TypeError):
        return
    if any(isinstance(node, ast.Assert) for node in ast.walk(ast.parse(source))):
        raise PluginError(
            f"`{reference}`: the module has `assert` statements, and Python leaves them out here "
            "(-O or PYTHONOPTIMIZE); run without that"
        )


def _prepare_import(module: str, folder: str | None) -> None:
    """Put the spec's folder first on `sys.path`, then the working folder.

    Two suites in different folders may each have a `checks.py`. A module that was imported for
    another suite is removed from `sys.modules`: otherwise this suite would be judged by that
    suite's code.
    """
    for place in ("", folder):
        if place is not None:
            if place in sys.path:
                sys.path.remove(place)
            else:
                _added.add(place)
            sys.path.insert(0, place)
    if folder is None:
        return
    top = module.partition(".")[0]
    candidates = [Path(folder) / f"{top}.py", Path(folder) / top / "__init__.py"]
    wanted = next((file.resolve() for file in candidates if file.is_file()), None)
    loaded = getattr(sys.modules.get(top), "__file__", None)
    if wanted is not None and loaded is not None and Path(loaded).resolve() != wanted:
        for name in [name for name in sys.modules if name.partition(".")[0] == top]:
            del sys.modules[name]
