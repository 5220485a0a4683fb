"""Invalid settings, in a spec and in code; the cost that the cache reports."""

from __future__ import annotations

import pytest
import yaml

from tests.judge.conftest import verdict_of
from tests.judge.servers import score
from trialrun.cli.main import main
from trialrun.errors import UsageError
from trialrun.judge import Judge
from trialrun.judge.cache import VerdictCache
from trialrun.model.case import JudgeSettings


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"samples": 0}, "samples"),
        ({"max_concurrency": 0}, "max_concurrency"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"retries": 11}, "retries"),
        ({"calls_per_minute": 0}, "calls_per_minute"),
        ({"temperature": 3}, "temperature"),
        ({"output": "prose"}, "output"),
        ({"models": []}, "models"),
        ({"models": ["a", "b"]}, "either `model` or `models`"),
        ({"model": "openai:"}, "model"),
    ],
)
def test_invalid_settings_in_code_are_refused_by_name(given, named):
    with pytest.raises(UsageError, match=named):
        Judge(JudgeSettings(**{"model": "m", **given}))


@pytest.mark.parametrize("model", ["openai:", ":gpt", " ", "openai: "])
def test_a_model_without_a_name_is_refused_with_its_place(tmp_path, monkeypatch, capsys, model):
    monkeypatch.chdir(tmp_path)
    rubrics = [{"rule": "r", "model": model}]
    case = {"name": "a", "query": "q", "correctness": {"llm_judge": rubrics}}
    for judge, place in (
        ({"model": model}, "judge.model"),
        ({"models": ["a", model]}, "judge.models[1]"),
        (None, "llm_judge[0].model"),
    ):
        written = {"runner": "agent:run", "judge": judge, "queries": [case]}
        (tmp_path / "spec.yaml").write_text(yaml.safe_dump(written))
        assert main(["validate", "spec.yaml"]) == 2
        said = capsys.readouterr().err
        assert "spec.yaml:" in said
        assert f"{place}: expected a model, such as openai:gpt-4o-mini" in said, said


@pytest.mark.parametrize("model", ["m", "llama3.2:3b", "openai:gpt-4o-mini", "hf.co/a/b:Q4", "a b"])
def test_valid_model_names_are_accepted(model):
    assert Judge(model).models_for is not None


# `trialrun cache stats`


def test_verdicts_without_a_price_make_the_sum_unknown(serve, tmp_path, capsys):
    server = serve(score(5))
    cache = VerdictCache()  # the folder of the command
    priced = JudgeSettings(model="openai:gpt-4o-mini", base_url=f"{server.url}/v1", timeout=60)
    verdict_of(Judge(priced, cache=cache))
    assert main(["cache", "stats"]) == 0
    assert "asking for them again would cost $0.00021\n" in capsys.readouterr().out
    local = JudgeSettings(model="local", base_url=f"{server.url}/v1", timeout=60)
    verdict_of(Judge(local, cache=cache))
    main(["cache", "stats"])
    said = capsys.readouterr().out
    assert "2 verdicts" in said
    assert "what asking for them again would cost is not known" in said
    assert "$" not in said
