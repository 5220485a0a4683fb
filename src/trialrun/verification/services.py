"""Which running thing a command is about: its name, its machine, its port."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from trialrun.verification.deeds import Service
from trialrun.verification.shell import Command

_URL = re.compile(
    r"^(?:[a-z+]+://)?(?:[^@/\s]*@)?([A-Za-z0-9._-]+|\[[0-9a-f:]+\])(?::(\d{2,5}))?(?:[/?#].*)?$"
)
_LOCAL = frozenset({"localhost", "127.0.0.1", "0.0.0.0", "[::1]", "::1", "host.docker.internal"})
_VERBS = frozenset(
    "apply set image rollout restart undo status scale patch delete create replace edit run expose get describe logs wait top deploy deployment deployments deploy/ svc service pod pods po sts statefulset ds daemonset"
    " install upgrade rollback uninstall list history compose up down start stop rm ps inspect container ls stats stack update reload enable disable is-active is-failed show list-units reload-or-restart try-restart destroy import output state"
    " services lambda ecs s3 cloudformation app sync job run-all job/ exec all events endpoints ingress configmap secret secrets nodes ns namespace hpa replicaset rs cronjob template values manifest".split()
)
_VALUE_OPTIONS = frozenset(
    "-n --namespace -f --filename --file --context -l --selector --timeout -o --output -c --container --tail --since --version --values --set -p --publish -e --env -v --volume --network --image --format -a --app --region --profile --kubeconfig --restart -i --inventory --limit -H --host --data -X --request --header -u --user -w --write-out -m --max-time --retry --connect-timeout --lines -S --field-selector --for --replicas --type --patch -t --tags --function-name --cluster --service --stack-name".split()
)
_FILE_STEMS = frozenset(
    {
        "deployment",
        "service",
        "deploy",
        "manifest",
        "manifests",
        "all",
        "k8s",
        "kustomization",
        "ingress",
        "app",
    }
)
# Of a request `-f` and `-i` stand alone: what follows is the address.
_REQUESTERS = frozenset("curl wget http https xh xhs".split())
_REQUEST_OPTIONS = frozenset(
    "-X --request -H --header -d --data --data-raw --data-binary --json -o --output -O --output-document -w --write-out"
    " -m --max-time --retry --connect-timeout -u --user -A --user-agent -e --referer -b --cookie -c --cookie-jar -F --form"
    " -T --upload-file --resolve --cacert --cert --key -x --proxy --retry-delay -t --tries --timeout".split()
)
_CLUSTER_OPTIONS = frozenset("--context --kube-context --kubeconfig --region --project".split())
_NAME = re.compile(r"^[A-Za-z0-9][\w.@-]*$")


def service_of(command: Command, words: Sequence[str]) -> Service:
    """What is known about the service that the command changes or probes."""
    known = _Known(words[0], command.host)
    rest = list(words[1:])
    with_value = _REQUEST_OPTIONS if words[0] in _REQUESTERS else _VALUE_OPTIONS | _CLUSTER_OPTIONS
    index = 0
    while index < len(rest):
        word = rest[index]
        after = rest[index + 1] if index + 1 < len(rest) else None
        option, equals, value = word.partition("=")
        given = value if equals else after
        if given is not None:
            known.option(option, given, apart=not equals)
        if word in with_value or (word == "-d" and words[0] in ("curl", "http", "nc")):
            index += 2
            continue
        index += 1
        if not word.startswith("-"):
            known.word(word)
    if words[0] in ("nginx", "apachectl", "httpd"):
        known.names = {words[0]}
    return Service(frozenset(known.names), known.host, known.port, known.cluster)


# Options whose value is, or ends with, the name of a service.
_NAMING_OPTIONS = frozenset(
    "--name --container-name -u --unit -l --selector --service --function-name -a --app --cluster --stack-name".split()
)


class _Known:
    """What the words of one command tell of a service, one after the other."""

    def __init__(self, program: str, host: str | None) -> None:
        self.program = program
        self.host = host
        self.port: str | None = None
        self.cluster: str | None = None
        self.names: set[str] = set()

    def option(self, option: str, value: str, apart: bool) -> None:
        """An option and its value; `apart`: that stands in a word of its own."""
        if option in _CLUSTER_OPTIONS:
            self.cluster = value
        if option in ("-l", "--selector") and not apart:
            self.names.add(value.rpartition("=")[2].lower())
        if option in ("-c", "--config") and self.program in ("fly", "flyctl"):
            stem = value.rpartition("/")[2].removeprefix("fly.").rpartition(".")[0]
            self.names.update([stem.lower()] if stem else [])
        if not apart:
            return
        if option in ("-p", "--publish"):
            self.port = value.rpartition(":")[0].rpartition(":")[2] or self.port
        if option in _NAMING_OPTIONS and not (self.program in ("curl", "wget") and option == "-u"):
            name = value.rpartition("=")[2]
            if _NAME.match(name):
                self.names.add(name.removesuffix(".service").lower())
        if option == "--limit":
            self.names.update(part.lower() for part in value.split(","))
        if option in ("-H", "--host") and self.program != "curl":
            self.host = value
        if option in ("-f", "--filename") and self.program in ("kubectl", "oc"):
            stem = value.rpartition("/")[2].rpartition(".")[0].lower()
            if stem and stem not in _FILE_STEMS:
                self.names.add(stem)

    def word(self, word: str) -> None:
        """A word that is neither an option nor its value: an address, or a name."""
        found = _place(word)
        if found is not None:
            self.host, self.port = found[0] or self.host, found[1] or self.port
            return
        name = word.rpartition("/")[2].removesuffix(".service").lower()
        if name.endswith((".yaml", ".yml", ".json", ".conf", ".tf")):
            return
        if "=" in name or name in _VERBS or not _NAME.match(name):
            return
        if self.program in ("curl", "wget", "http", "https", "nc", "dig", "ping", "openssl"):
            if self.program in ("nc", "telnet") and name.isdigit():
                self.port = name
            elif self.program in ("nc", "ping", "dig", "telnet"):
                self.host = None if name in _LOCAL else name
            return
        name, at, instance = name.partition("@")
        if at and instance.isdigit():  # a unit of systemd with its instance: orders@8081
            self.port = instance
        self.names.add(name)


_HOST = re.compile(
    r"^(?:localhost|127\.0\.0\.1|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:/|$)|^[\w.-]+:\d{2,5}(?:/|$)"
)


def _place(word: str) -> tuple[str | None, str | None] | None:
    """The host and the port of a URL or of host:port."""
    if "://" not in word and not _HOST.match(word):
        return None
    match = _URL.match(word)
    if match is None:
        return None
    host, port = match.group(1).lower(), match.group(2)
    if re.search(r"\.(?:ya?ml|json|conf|py|sh|txt|md|tf|service|ini|toml|log|html?)$", host):
        return None
    return (None if host in _LOCAL else host), port


def same_service(one: Service, other: Service) -> bool:
    """Whether a probe may be about what was changed: nothing known of both differs."""
    if one.host and other.host and not _hosts_meet(one, other):
        return False
    if one.port and other.port and one.port != other.port:
        return False
    if one.cluster and other.cluster and one.cluster != other.cluster:
        return False
    stages = [_stages(service) for service in (one, other)]
    if stages[0] and stages[1] and not stages[0] & stages[1]:
        return False  # what answers on staging says nothing about production
    return not one.names or not other.names or _names_meet(one.names, other.names)


_STAGES = {
    "prod": "production", "production": "production", "live": "production", "staging": "staging",
    "stage": "staging", "stg": "staging", "dev": "dev", "test": "test", "qa": "test", "canary": "canary",
    "preview": "preview", "sandbox": "sandbox",
}  # fmt: skip


def _stages(service: Service) -> frozenset[str]:
    return stages_of(*service.names, service.host or "", service.cluster or "")


@lru_cache(maxsize=20_000)
def stages_of(*names: str) -> frozenset[str]:
    """The stages that names of machines or services speak of."""
    words = [word for name in names for word in re.split(r"[-_.]", name)]
    return frozenset(_STAGES[word] for word in words if word in _STAGES)


def is_stage_of(one: Service, other: Service) -> bool:
    """`pricing-api-staging.example.com` is not `pricing-api`."""
    label = other.host.split(".")[0] if other.host else ""
    for name in one.names if one.host is None and label not in one.names else ():
        rest = label.removeprefix(f"{name}-")
        if rest != label and _STAGES.get(rest, "production") != "production":
            return not stages_of(*one.names)
    return False


def _named_in(service: Service, host: str) -> bool:
    return any(name in re.split(r"[.\-]", host) or host.startswith(name) for name in service.names)


def _hosts_meet(one: Service, other: Service) -> bool:
    assert one.host is not None and other.host is not None
    if one.host.split(".")[0] == other.host.split(".")[0]:
        return True
    return _named_in(one, other.host) or _named_in(other, one.host)


def _names_meet(ones: frozenset[str], others: frozenset[str]) -> bool:
    for one in ones:
        for other in others:
            if one == other or stems_of(one) & stems_of(other):
                return True
    return False


@lru_cache(maxsize=20_000)
def stems_of(name: str) -> set[str]:
    """By what a service may be called: `billing-worker` is the worker, and billing."""
    parts = [part for part in re.split(r"[-_.]", name) if len(part) > 2 and not part.isdigit()]
    return {name, *parts} - {"service", "server", "app", "api", *_STAGES} or {name}
