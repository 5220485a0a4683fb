"""What every rule has to keep to: its examples fire and do not fire, and it says what it is."""

from __future__ import annotations

import pkgutil
import re
from collections import Counter

import pytest
from msgspec.structs import replace

import trialrun.verification.rules as package
from trialrun import Trace
from trialrun.model.ledger import HARMFUL
from trialrun.verification.ledger import audit, session_of
from trialrun.verification.rules.base import FAIL, WARN, Example, all_rules
from trialrun.verification.settings import Settings

RULES = all_rules()


OPEN: frozenset[str] = frozenset()
"""Rules with an example that does not hold yet: take the code out where it does."""

EACH = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)


def fired(rule, example):
    """The findings of one rule on one of its examples."""
    trace = Trace(input="Fix it.", output=example.says, steps=list(example.steps))
    session = session_of(trace)
    if rule.survey is not None:
        return list(rule.survey(session))
    statements = [one for spoken in session.spoken for one in spoken.statements]
    return [found for one in statements if (found := rule.about(one, session)) is not None]


def faults_of(rule):
    """What is wrong with a rule's examples."""
    faults = [f"does not fire: {one.says}" for one in rule.fires if not fired(rule, one)]
    faults += [f"fires: {one.says}" for one in rule.passes if fired(rule, one)]
    if not rule.fires or not rule.passes:
        faults.append("needs examples of both outcomes")
    return faults


@EACH
def test_examples(rule, request):
    if rule.code in OPEN:
        request.applymarker(pytest.mark.xfail(strict=True, reason="a known fault"))
    assert faults_of(rule) == []


@EACH
def test_what_a_rule_says_of_itself(rule):
    for text in (rule.name, rule.what, rule.why, rule.silent):
        assert text.strip() == text and text
    assert re.fullmatch(r"TR\d{3}", rule.code)
    assert re.fullmatch(r"[a-z]+(?:-[a-z]+)*", rule.name)
    assert rule.severity in (FAIL, WARN)
    assert (rule.about is None) is not (rule.survey is None), "either `about` or `survey`"


def test_a_rule_is_one_file_named_after_it():
    files = [one.name for one in pkgutil.iter_modules(package.__path__) if one.name != "base"]
    assert [name.partition("_")[0].upper() for name in sorted(files)] == [r.code for r in RULES]


@pytest.mark.parametrize("part", ["code", "name"])
def test_no_two_rules_share(part):
    assert Counter(getattr(rule, part) for rule in RULES).most_common(1)[0][1] == 1


@EACH
def test_a_finding_names_its_rule_and_steps_of_the_session(rule):
    for example in rule.fires:
        ids = {str(number + 1) for number in range(len(example.steps))}
        for found in fired(rule, example):
            assert (found.code, found.severity) == (rule.code, rule.severity)
            assert found.message and set(found.steps) <= ids


@EACH
def test_in_the_ledger_only_a_stable_rule_changes_a_verdict(rule):
    """A preview rule's finding is listed, and is neither red nor an open obligation."""
    alone = Settings(select=(rule.code,))
    for example in (one for one in rule.fires if fired(rule, one)):
        trace = Trace(input="Fix it.", output=example.says, steps=list(example.steps))
        ledger = audit(trace, alone)
        assert rule.code in {found.code for found in ledger.findings}
        red = any(claim.verdict in HARMFUL for claim in ledger.claims)
        if not rule.stable:
            assert not red and ledger.compliant
        elif rule.verdict is not None:
            assert red and not ledger.compliant


# The contract can fail.


def never(*_):
    return None


def test_a_rule_that_never_fires_is_found():
    rule = replace(next(r for r in RULES if r.about is not None), about=never)
    assert faults_of(rule)


def test_a_rule_that_always_fires_is_found():
    rule = next(r for r in RULES if r.about is not None)
    finding = fired(rule, rule.fires[0])[0]
    assert faults_of(replace(rule, about=lambda *_: finding))


def test_a_rule_without_an_example_is_found():
    rule = next(r for r in RULES if r.code not in OPEN)
    assert faults_of(replace(rule, passes=())) == ["needs examples of both outcomes"]
    silent = Example("All is well.")
    assert faults_of(replace(rule, fires=(silent,))) == ["does not fire: All is well."]
