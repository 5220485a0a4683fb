"""A support agent with the OpenAI client: the ordinary loop of a model and tools.

It runs as a function (`support_agent:run`), as a command (`python support_agent.py`) and behind an
address (`serve`). Faults are named in brackets in the question, and take effect as soon as a file
`changed` is beside the agent: the same question is asked before and after the change.
"""

from __future__ import annotations

import json
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from openai import DefaultHttpxClient, OpenAI

HERE = Path(__file__).parent
_FAULTS = re.compile(r"\[([\w+]+)\]")  # Refund order 1012 [skip+cost]
# The tool that fails once.
_RETRIES = {
    "retry": "issue_refund",
    "retry_lookup": "lookup_order",
    "retry_search": "search_policy",
}
_TOOLS = "search_policy lookup_order issue_refund issue_credit transfer delete_account"
_SCHEMAS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in _TOOLS.split()
]


def run(question):
    """Answer the question; the steps are recorded as they happen."""
    found = _FAULTS.search(question)
    faults = found[1].split("+") if found and (HERE / "changed").exists() else []
    always = (HERE / "always").read_text().split() if (HERE / "always").exists() else []
    loop = Loop([*always, *faults, *drawn(question)])
    with loop.client:
        return loop.run(question)


def drawn(question):
    """Faults of one attempt; the benchmark replaces this."""
    return ()


class Loop:
    """One conversation with the model."""

    def __init__(self, faults):
        self.faults = faults
        self.steps = []
        self.failed_once = False
        address = (HERE / "address").read_text()
        path = "+".join(faults) or "none"
        self.client = OpenAI(
            base_url=f"{address}/{path}/v1",
            api_key="local",
            max_retries=0,
            # The address is local: reading all certificates takes most of the time of an attempt.
            http_client=DefaultHttpxClient(verify=False),
        )
        self.model = "gpt-4o-mini" if "other_model" in faults else "gpt-4o"
        self.prompt = "Be brief." if "other_prompt" in faults else "You are a support agent."

    def run(self, question):
        messages = [
            {"role": "system", "content": self.prompt},
            {"role": "user", "content": question},
        ]
        while True:
            reply = self.client.chat.completions.create(
                model=self.model, messages=messages, tools=_SCHEMAS
            )
            said = reply.choices[0].message
            self._note_reply(reply)
            if not said.tool_calls:
                return {"output": said.content, "steps": self.steps}
            messages.append(said.model_dump(exclude_none=True))
            for call in said.tool_calls:
                result = self._call(call.function.name, json.loads(call.function.arguments))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    def _note_reply(self, reply):
        usage = reply.usage
        self.steps.append(
            {
                "type": "llm_call",
                "model": self.model,
                "metadata": {"system_prompt": self.prompt},
                "output": reply.choices[0].message.content,
                "tokens": {
                    "prompt_tokens": usage.prompt_tokens,
                    "completion_tokens": usage.completion_tokens,
                },
            }
        )

    def _call(self, name, arguments):
        """The usual handler: an exception of a tool becomes a text for the model."""
        step = {"type": "tool_call", "tool_name": name, "tool_args": arguments}
        if name == "search_policy":
            step["type"] = "retrieval"
        if name == "transfer":
            step = {"type": "handoff", "handoff_to": arguments["to"]}
        self.steps.append(step)
        try:
            step["tool_result"] = self._tool(name, arguments)
        except RuntimeError as error:
            step |= {"status": "failure", "error": str(error)}
            return f"error: {error}"
        return json.dumps(step["tool_result"])

    def _tool(self, name, arguments):
        if f"broken_{name}" in self.faults:
            raise RuntimeError("connection refused")
        retried = any(_RETRIES.get(fault) == name for fault in self.faults)
        if retried and not self.failed_once:
            self.failed_once = True
            raise RuntimeError("try again")
        if name == "lookup_order":
            return {"order_id": arguments.get("order_id"), "total": 20, "state": "sent"}
        return "done"


def serve():
    """The agent behind an address; the caller starts and stops the server."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(run(asked["input"])).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            """Log nothing to stderr."""

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run(json.load(sys.stdin)["input"])))
