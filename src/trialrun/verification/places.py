"""Whether a look is about a service or about data, and which files went into a service."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Service
from trialrun.verification.events import DATA, SERVICE, Change, Events, Key, Look, program_of
from trialrun.verification.paths import same, within
from trialrun.verification.services import is_stage_of, same_service, stages_of, stems_of
from trialrun.verification.values import safe_text


def covers_service(look: Look, change: Change, events: Events) -> bool:
    """Whether a probe, a smoke test or a plan is about the service that was changed."""
    service = change.service or Service()
    if look.answers and program_of(look.by) != program_of(change.by):
        return False
    if look.kind == d.PROBE:
        probed = look.service or Service()
        if is_stage_of(service, probed) and not _told_stage(change, probed, events):
            return False
        if not same_service(service, probed):
            return _through_its_door(look, service)
        if service.names and not probed.names and probed.port and not service.port:
            known = events.ports.get(probed.port)
            return known is None or known in service.names
        return True
    if look.kind == d.TEST:
        return asks_services(look)
    if look.kind == d.CONFIG:
        return asks_services(look) and program_of(look.by) == program_of(change.by)
    return look.kind == d.QUERY and not service.names and "terraform" in change.by


_SMOKE = re.compile("smoke|e2e|health|playwright|cypress|hurl|newman|k6|helm test")


def asks_services(look: Look) -> bool:
    """Whether a run asks what runs somewhere, and not only the code."""
    if look.kind == d.CONFIG:  # a plan compares what was declared with what is there
        return "plan" in look.command
    return look.kind == d.TEST and bool(_SMOKE.search(look.by + look.command))


_FRONT_DOORS = frozenset(
    "nginx apache2 httpd caddy haproxy traefik envoy openresty varnish".split()
)


def _told_stage(change: Change, probed: Service, events: Events) -> bool:
    """Whether the call that changed it names the stage: `-n staging`, a context, a project."""
    call = events.call_of.get(change.step)
    given = safe_text(call.tool_args).lower() if call is not None else ""
    return bool(stages_of(*re.split(r"[^a-z-]+", given)) & stages_of(probed.host or ""))


def _through_its_door(look: Look, service: Service) -> bool:
    """A site was asked from the machine whose web server was changed: it is the one that answers."""
    return (
        service.host is not None
        and look.host == service.host
        and bool(service.names & _FRONT_DOORS)
        and look.by in ("curl", "wget", "httpie")
    )


def covers_data(look: Look, change: Change) -> bool:
    """Whether a query is about the tables that were changed."""
    if look.kind != d.QUERY:
        return False
    changed, seen = change.service or Service(), look.service or Service()
    if changed.database and seen.database and not same(changed.database, seen.database):
        return False  # a table of that name in another database
    if changed.host and seen.host and changed.host != seen.host:
        return False
    if not changed.names or not seen.names:
        return True
    return bool(tables_of(changed) & tables_of(seen)) or is_about_tables(seen)


def tables_of(service: Service) -> set[str]:
    """The tables without the schema that they are in."""
    return {name.rpartition(".")[2] for name in service.names}


def is_about_tables(service: Service) -> bool:
    """Whether the database was asked about itself."""
    return any(name.startswith(("pg_", "information_schema", "sqlite_")) for name in service.names)


_COMPOSED = re.compile(r"compose[\w.-]*\.ya?ml$|(?:^|/)Dockerfile[\w.-]*$|\.env$")
_PLAYED = re.compile(r"(?:^|/)(?:roles|playbooks|group_vars|host_vars)/|(?:^|/)\w+\.ya?ml$")


def took_effect(look: Look, target: str, events: Events) -> bool:
    """A file that was applied after its last change, and the service that it went to was asked."""
    return any(
        look.at > change.at > events.latest.get(target, 0)
        and same_service(change.service or Service(), look.service or Service())
        for change in _consumers(target, events)
    )


def _consumers(target: str, events: Events) -> list[Change]:
    """The changes of services that read that file; asked for each probe, and found once."""
    known = events.consumers.get(target)
    if known is None:
        named = [one for part in target.split("/") for one in events.services_by_word.get(part, ())]
        by_sort = [one for one in events.services if _BY_SORT.search(one.by)]
        apart = {id(one): one for one in (*named, *by_sort)}.values()
        known = events.consumers[target] = [one for one in apart if consumes(one, target)]
    return known


_BY_SORT = re.compile("compose|ansible|terraform|tofu|terragrunt")  # these read files of a sort


def consumes(change: Change, target: str) -> bool:
    """Whether what changed the service reads that file."""
    base = target.rpartition("/")[2]
    if "compose" in change.by:
        return bool(_COMPOSED.search(target))
    if program_of(change.by) in ("terraform", "tofu", "terragrunt"):
        return target.endswith((".tf", ".tfvars", ".hcl"))
    if "ansible" in change.by and _PLAYED.search(target):
        return True
    words = change.content.split()
    return base in change.content or any(
        "/" in word and not word.startswith("-") and within(target, word.rstrip("/"))
        for word in words
    )


class Places:
    """The index over the changes of services and data."""

    def __init__(self, changes: Mapping[Key, Change]) -> None:
        self.services = frozenset(key for key, one in changes.items() if one.kind == SERVICE)
        self.data = frozenset(key for key, one in changes.items() if one.kind == DATA)
        self.by_name: dict[str, set[Key]] = {}
        self.by_host: dict[str, set[Key]] = {}
        self.by_table: dict[str, set[Key]] = {}
        nameless = []
        for key in self.services | self.data:
            service = changes[key].service or Service()
            if not service.names:
                nameless.append(key)
            elif key in self.data:
                for table in tables_of(service):
                    self.by_table.setdefault(table, set()).add(key)
            else:
                for name in service.names:
                    for stem in stems_of(name):
                        self.by_name.setdefault(stem, set()).add(key)
                if service.host:
                    self.by_host.setdefault(service.host, set()).add(key)
        self.nameless = frozenset(nameless)

    def for_look(self, look: Look) -> Sequence[Set[Key]]:
        """The changes that the look may be about."""
        service = look.service or Service()
        if look.kind == d.PROBE and self.services:
            if not service.names:
                return (self.services,)
            named = [
                self.by_name.get(stem, _NONE) for name in service.names for stem in stems_of(name)
            ]
            return self.nameless, self.by_host.get(look.host or "", _NONE), *named
        if look.kind == d.QUERY:
            tables = tables_of(service)
            if not tables or is_about_tables(service):
                return self.data, self.nameless
            return self.nameless, *(self.by_table.get(table, _NONE) for table in tables)
        return (self.services,) if self.services and asks_services(look) else ()


_NONE: frozenset[Key] = frozenset()
