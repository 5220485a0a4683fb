"""What every kind of agent promises, over every one that is registered."""

from __future__ import annotations

import pytest

from trialrun import registry
from trialrun.spec.schema import spec_schema

KINDS = registry.agent_kinds()


@pytest.mark.parametrize("kind", KINDS.values(), ids=list(KINDS))
def test_its_name_is_the_first_of_its_settings(kind):
    first, *others = kind.settings.__struct_fields__
    assert first == kind.name
    assert kind.__doc__ and set(kind.about) <= {first, *others}
    # Defaults are left out of fingerprints, so a new setting does not invalidate stored runs.
    assert kind.settings.__struct_config__.omit_defaults


def test_no_two_kinds_share_a_key():
    keys = [key for kind in KINDS.values() for key in kind.settings.__struct_fields__]
    assert len(keys) == len(set(keys))


def test_the_schema_knows_every_key():
    keys = {key for kind in KINDS.values() for key in kind.settings.__struct_fields__}
    assert keys <= set(spec_schema()["properties"])
