"""`trialrun schema`: the JSON schema of the spec."""

from __future__ import annotations

import click
import msgspec

from trialrun.cli.output import put


@click.command("schema")
def command() -> int:
    """Print the JSON schema of the spec, for completion and checking in editors.

    In VS Code with the YAML extension, put `# yaml-language-server: $schema=schema.json` on top of
    the spec.
    """
    from trialrun.spec.schema import spec_schema

    put(msgspec.json.format(msgspec.json.encode(spec_schema()), indent=2).decode() + "\n")
    return 0
