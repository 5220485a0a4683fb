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
    host = command.host
    port: str | None = None
    cluster: str | None = None
    names: set[str] = set()
    rest = list(words[1:])
    with_value = _REQUEST_OPTIONS if words[0] in _REQUESTERS else _VALUE_OPTIONS | _CLUSTER_OPTIONS
    index = 0
    while index < len(rest):
        word = rest[index]
        if word in ("-p", "--publish") and index + 1 < len(rest):
            port = rest[index + 1].rpartition(":")[0].rpartition(":")[2] or port
        if word in (
            "--name",
            "--container-name",
            "-u",
            "--unit",
            "-l",
            "--selector",
            "--service",
            "--function-name",
            "-a",
            "--app",
            "--cluster",
            "--stack-name",
        ) and index + 1 < len(rest):
            value = rest[index + 1].rpartition("=")[2]
            if _NAME.match(value) and not (words[0] in ("curl", "wget") and word == "-u"):
                names.add(value.removesuffix(".service").lower())
        if word in ("--limit",) and index + 1 < len(rest):
            names.update(part.lower() for part in rest[index + 1].split(","))
        option, equals, value = word.partition("=")
        if option in _CLUSTER_OPTIONS and (equals or index + 1 < len(rest)):
            cluster = value if equals else rest[index + 1]
        if option in ("-c", "--config") and words[0] in ("fly", "flyctl") and index + 1 < len(rest):
            stem = rest[index + 1].rpartition("/")[2].removeprefix("fly.").rpartition(".")[0]
            names.update([stem.lower()] if stem else [])
        if word in ("-H", "--host") and words[0] != "curl" and index + 1 < len(rest):
            host = rest[index + 1]
        if word in ("-f", "--filename") and index + 1 < len(rest) and words[0] in ("kubectl", "oc"):
            stem = rest[index + 1].rpartition("/")[2].rpartition(".")[0].lower()
            if stem and stem not in _FILE_STEMS:
                names.add(stem)
        if word in with_value or (word == "-d" and words[0] in ("curl", "http", "nc")):
            index += 2
            continue
        index += 1
        if word.startswith("-"):
            option, equals, value = word.partition("=")
            if option in ("--selector", "-l") and equals:
                names.add(value.rpartition("=")[2].lower())
            continue
        found = _place(word)
        if found is not None:
            host, port = found[0] or host, found[1] or port
            continue
        name = word.rpartition("/")[2].removesuffix(".service").lower()
        if name.endswith((".yaml", ".yml", ".json", ".conf", ".tf")):
            continue
        if "=" in name or name in _VERBS or not _NAME.match(name):
            continue
        if words[0] in ("curl", "wget", "http", "https", "nc", "dig", "ping", "openssl"):
            if words[0] in ("nc", "telnet") and name.isdigit():
                port = name
            elif words[0] in ("nc", "ping", "dig", "telnet"):
                host = None if name in _LOCAL else name
            continue
        name, at, instance = name.partition("@")
        if at and instance.isdigit():  # a unit of systemd with its instance: orders@8081
            port = instance
        names.add(name)
    if words[0] in ("nginx", "apachectl", "httpd"):
        names = {words[0]}
    return Service(frozenset(names), host, port, cluster)


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
            if one == other or _stems(one) & _stems(other):
                return True
    return False


@lru_cache(maxsize=20_000)
def _stems(name: str) -> set[str]:
    parts = [part for part in re.split(r"[-_.]", name) if len(part) > 2 and not part.isdigit()]
    return {name, *parts} - {"service", "server", "app", "api", *_STAGES} or {name}
