"""An agent with two tools for the tests of baselines, and what it can do differently."""

from __future__ import annotations

SOURCE = """
import json
from itertools import count

def tool(name, result=None, **given):
    return {"type": "tool_call", "tool_name": name, "tool_args": given, "tool_result": result}

def model(cost=0.01):
    return {"type": "llm_call", "model": "m", "cost_usd": cost}

def run(question):
    does = json.loads((HERE / "does.json").read_text())
    note(question)
    number = len((HERE / "calls").read_text().splitlines())
    wording = f"customer-{number}" if does.get("varies") else "all orders of the customer"
    find = tool("lookup_order", {"price": 20}, order="12", wording=wording)
    refund = tool("issue_refund", True, order="12", amount=does.get("amount", 20))
    if does.get("key"):
        refund["tool_args"]["api_key"] = does["key"]
    if does.get("fails") in (True, number):
        refund |= {"status": "failure", "error": "the bank is closed"}
    cost = does.get("cost", 0.01)
    steps = [model(cost), find, model(cost), refund]
    if does.get("retries"):
        steps.insert(3, {**refund, "status": "failure", "error": "busy"})
    if does.get("ids"):
        for at, step in enumerate(step for step in steps if "tool_args" in step):
            step["tool_args"] = {**step["tool_args"], "id": f"{number}-{at}"}
    if does.get("skips"):
        steps.remove(find)
    return {"output": does.get("answer", "refunded"), "steps": steps}
"""


def case(name="refund", **fields):
    return {
        "name": name,
        "query": "Refund order 12.",
        "correctness": {"expected_in_answer": ["refunded"]},
        **fields,
    }


def does(project, **what):
    """Set what the agent does from now on."""
    import json

    (project.folder / "does.json").write_text(json.dumps(what))


def begin(project, *cases, repeat=1, **what):
    """A project with this agent, run once."""
    project.agent(SOURCE)
    does(project, **what)
    project.spec(*(cases or (case(),)))
    return project.run("--repeat", repeat, "-j", 1)


def saved(project, name="refund"):
    import json

    return json.loads((project.folder / "baselines" / "spec" / f"{name}.json").read_text())
