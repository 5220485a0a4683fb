"""Programs that change or ask a running service or a database."""

from __future__ import annotations

import re
from collections.abc import Iterator

from trialrun.verification import deeds as d
from trialrun.verification.deeds import Deed, Service
from trialrun.verification.programs.making import called, make_deed, without_globals
from trialrun.verification.programs.own import run_own
from trialrun.verification.services import service_of
from trialrun.verification.shell import Command

SERVICE_COMMANDS: tuple[tuple[str, str], ...] = (
    (
        "kubectl",
        r"apply|set|rollout (?:restart|undo)|scale|patch|delete|create|replace|edit|run|expose|cordon|drain|label|annotate|autoscale",
    ),
    ("oc", r"apply|rollout|new-app|start-build|scale|patch|delete|create|replace|set"),
    ("helm", r"install|upgrade|rollback|uninstall|delete"),
    ("helmfile", r"apply|sync|destroy"),
    (
        "docker",
        r"run|restart|start|stop|kill|rm|compose (?:up|restart|down|start|stop|rm)|stack deploy|service (?:update|create|scale|rm)",
    ),
    ("docker-compose", r"up|restart|down|start|stop|rm"),
    ("podman", r"run|restart|start|stop|kill|rm"),
    (
        "systemctl",
        r"restart|reload|start|stop|enable|disable|reload-or-restart|try-restart|mask|unmask|kill",
    ),
    ("service", r"\S+ (?:restart|reload|start|stop)"),
    ("supervisorctl", r"restart|reload|start|stop|update|reread"),
    ("pm2", r"restart|reload|start|stop|delete|deploy"),
    ("nginx", r"-s (?:reload|stop|quit|reopen)"),
    ("apachectl", r"restart|graceful|start|stop"),
    ("terraform", r"apply|destroy|import"),
    ("tofu", r"apply|destroy|import"),
    ("terragrunt", r"apply|destroy|run-all apply"),
    ("pulumi", r"up|destroy"),
    ("cdk", r"deploy|destroy"),
    ("ansible-playbook", r".*"),
    ("ansible", r".*-m (?:service|systemd|shell|command|copy|template|apt)"),
    ("vercel", r".*"),
    ("netlify", r"deploy"),
    ("fly", r"deploy|scale|machine|secrets set|apps restart"),
    ("flyctl", r"deploy|scale|machine|secrets set|apps restart"),
    ("heroku", r"(?:ps:)?restart|releases:rollback|config:set|container:release|ps:scale"),
    ("railway", r"up|redeploy"),
    ("wrangler", r"deploy|publish|rollback"),
    ("serverless", r"deploy|remove"),
    ("sls", r"deploy|remove"),
    ("sam", r"deploy"),
    ("eb", r"deploy"),
    ("firebase", r"deploy"),
    ("gcloud", r".*\b(?:deploy|update|create|delete|update-traffic|set)\b"),
    (
        "aws",
        r".*\b(?:update-\S+|create-\S+|deploy|put-\S+|delete-\S+|run-\S+|start-\S+|stop-\S+|sync|cp|mv|rm)\b",
    ),
    ("az", r".*\b(?:deploy|update|create|delete|restart|up)\b"),
    ("cap", r".*deploy.*"),
    ("kamal", r"deploy|redeploy|rollback"),
    ("dokku", r"ps:restart|ps:rebuild|git:.*"),
    ("nomad", r"(?:job )?(?:run|stop)"),
    ("argocd", r"app (?:sync|rollback|set)"),
    ("skaffold", r"run|deploy"),
    ("twine", r"upload"),
    ("rc-service", r"\S+ (?:restart|start|stop|reload)"),
    ("initctl", r"restart|reload|start|stop"),
    ("launchctl", r"load|unload|kickstart|start|stop"),
    ("reboot", r".*"),
    ("crontab", r"(?!-l).*"),
    ("firewall-cmd", r".*(?:--add|--remove|--reload).*"),
    ("ufw", r"allow|deny|delete|enable|disable|reload"),
    ("iptables", r"-[AID].*"),
    ("docker-machine", r"start|stop|restart"),
    ("varnishadm", r".*"),
)


_SERVICE_PATTERNS = {
    name: re.compile(rf"(?:-\S+ )*(?:{pattern})(?:\s|$)", re.DOTALL)
    for name, pattern in SERVICE_COMMANDS
}


_LONGEST_OPENING = 300
"""What a command does stands in its first words; its patterns try every one of them."""

_VERCEL_READS = re.compile(
    r"(?:inspect|ls|list|logs|whoami|env (?:ls|pull)|--version|link|pull|build)\b"
)


def change_service(command: Command, words: list[str]) -> Iterator[Deed]:
    name = command.name
    plain = without_globals(name, words)[0]
    text = " ".join(plain[1:])
    if name == "crontab" and not words[1:]:
        return
    if not _SERVICE_PATTERNS[name].match(text[:_LONGEST_OPENING]) or "--dry-run" in text:
        return
    if name == "vercel" and _VERCEL_READS.match(text):
        return
    detached = any(word in ("-d", "--detach") for word in words)
    if name == "docker" and words[1:2] == ["run"] and not detached:
        # A container that runs a command to its end is that command; one left running is a service.
        yield make_deed(d.RUN, command, by="docker run")
        return
    yield make_deed(
        d.SERVICE,
        command,
        by=called(plain),
        service=service_of(command, words),
        content=" ".join(words),
    )


_MIGRATIONS = re.compile(
    r"alembic (?:-\S+ \S+ )*(?:upgrade|downgrade|stamp)|prisma (?:migrate (?:deploy|dev|reset|resolve)|db (?:push|seed|execute))|manage\.py (?:migrate|loaddata|flush)|rails db:\S+|rake db:\S+"
    r"|flyway (?:migrate|repair|clean)|knex (?:migrate:(?:latest|up|down|rollback)|seed:run)|sequelize(?:-cli)? db:(?:migrate|seed)\S*|liquibase (?:update|rollback)|dbmate (?:up|down|migrate|rollback)"
    r"|goose (?:.* )?(?:up|down)|migrate (?:.* )?(?:up|down)|typeorm migration:(?:run|revert)|drizzle-kit (?:push|migrate)|artisan (?:migrate|db:seed)\S*|mix ecto\.(?:migrate|rollback)|sqlx migrate run|diesel migration run|atlas (?:migrate|schema) apply|dbt (?:seed|snapshot)|supabase db (?:push|reset)|hasura migrate apply|cargo sqlx migrate run|python manage\.py migrate|flask db (?:upgrade|downgrade)|doctrine:migrations:migrate"
)


_MIGRATION_LOOKS = re.compile(
    r"alembic (?:-\S+ \S+ )*(?:current|history|heads|show)|prisma migrate (?:status|diff)|manage\.py (?:showmigrations|dbshell|inspectdb|sqlmigrate)|rails db:migrate:status|flyway (?:info|validate)|knex migrate:(?:status|list)|dbmate status|goose .*status|migrate .*version|typeorm migration:show|artisan migrate:status|flask db (?:current|history)|mix ecto\.migrations|liquibase status|atlas migrate status|dbt (?:show|source freshness)"
)


def migrate(command: Command, words: list[str]) -> Iterator[Deed]:
    text = " ".join([command.name, *words[1:]])[:_LONGEST_OPENING]
    if _MIGRATION_LOOKS.search(text):
        yield make_deed(
            d.QUERY,
            command,
            by=called([command.name, *words[1:]]),
            service=Service(frozenset(), command.host),
        )
    elif _MIGRATIONS.search(text) and "--sql" not in words:
        yield make_deed(d.RUN, command, by="migration " + called([command.name, *words[1:]]))
        yield make_deed(
            d.DATA,
            command,
            by=called([command.name, *words[1:]]),
            service=Service(frozenset(), command.host),
        )
    else:
        yield from run_own(command, words)
