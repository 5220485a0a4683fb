"""`trialrun schema`: the JSON schema of the spec."""

from __future__ import annotations

import click
import msgspec

from trialrun.cli.output import put


@click.command("schema")
def command() -> int:
    """Print the JSON schema of the spec, for completion and validation in editors.

    In VS Code with the YAML extension, write `# yaml-language-server: $schema=schema.json` as the
    first line of the spec.
    """
    from trialrun.spec.schema import spec_schema

    put(msgspec.json.format(msgspec.json.encode(spec_schema()), indent=2).decode() + "\n")
    return 0
