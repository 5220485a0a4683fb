"""A local model with OpenAI's chat protocol that plays a script; faults are in its address.

How many replies were given so far is seen in the messages. The script is a list
of replies, each of which asks for several calls; a fault changes the script, as a changed prompt or
model would.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import defaultdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from uuid import uuid4

SHORT = (  # fewer than four words: exact where five repeats had the same one
    "refund policy",
    "policy for refunds",
    "returns",
    "return of shoes",
    "refund",
    "shoe returns",
)
LONG = (  # four or more words: a free text
    "when may a customer return shoes",
    "how long can shoes be returned",
    "refund of shoes bought online",
    "rules for the return of shoes",
    "is a refund of shoes possible",
    "which shoes may be sent back",
)
WORDINGS = SHORT[:3] + LONG[:3]
LOOKUP, REFUND, SEARCH = "lookup_order", "issue_refund", "search_policy"
# The tool that fails once and is called again.
RETRIES = {"retry": REFUND, "retry_lookup": LOOKUP, "retry_search": SEARCH}


def script():
    """What the model asks for, reply by reply, if nothing was changed."""
    refund = {
        "order_id": "1012",
        "amount": 20,
        "currency": "EUR",
        "customer": {"id": "c7", "tier": "gold"},
        "lines": ["shoes", "socks"],
        "request_id": uuid4().hex,
        "at": time.time_ns(),
        "note": "The customer sent the shoes back.",
    }
    return [
        [(SEARCH, {"query": "refund policy"}), (LOOKUP, {"order_id": "1012"})],
        [(REFUND, refund)],
        [("transfer", {"to": "billing"})],
    ]


def _of_refund(**changed):
    def fault(replies):
        for reply in replies:
            for name, arguments in reply:
                if name == REFUND:
                    arguments |= changed

    return fault


def _without(argument):
    def fault(replies):
        for reply in replies:
            for name, arguments in reply:
                if name == REFUND:
                    arguments.pop(argument)

    return fault


def _rename(old, new):
    def fault(replies):
        for reply in replies:
            reply[:] = [(new if name == old else name, arguments) for name, arguments in reply]

    return fault


def _skip(tool):
    def fault(replies):
        for reply in replies:
            reply[:] = [call for call in reply if call[0] != tool]
        replies[:] = [reply for reply in replies if reply]

    return fault


def _refund_first(replies):
    refund = next(reply for reply in replies if any(name == REFUND for name, _ in reply))
    replies.remove(refund)
    replies.insert(0, refund)


def _again(tool):
    """The same call once more, in a reply of its own."""

    def fault(replies):
        call = next(call for reply in replies for call in reply if call[0] == tool)
        replies.append([call])

    return fault


def _another_order(replies):
    replies[0].append((LOOKUP, {"order_id": "9"}))


def _delete(replies):
    replies.append([("delete_account", {"customer": "c7"})])


def _handoff(replies):
    replies[:] = [
        [(name, {"to": "sales"} if name == "transfer" else arguments) for name, arguments in reply]
        for reply in replies
    ]


FAULTS = {
    "skip": _skip(LOOKUP),
    "argument": _of_refund(amount=200),
    "extra": _again(REFUND),
    "forbidden": _delete,
    "order": _refund_first,
    # Relatives of these.
    "currency": _of_refund(currency="USD"),
    "letters": _of_refund(currency="eur"),
    "negative": _of_refund(amount=-20),
    "cents": _of_refund(amount=20.01),
    "as_text": _of_refund(amount="20"),
    "null": _of_refund(amount=None),
    "truth": _of_refund(amount=True),
    "left_out": _without("amount"),
    "added": _of_refund(express=True),
    "nested": _of_refund(customer={"id": "c8", "tier": "gold"}),
    "nested_out": _of_refund(customer={"id": "c7"}),
    "list_item": _of_refund(lines=["shoes", "boots"]),
    "list_longer": _of_refund(lines=["shoes", "socks", "socks"]),
    "list_emptied": _of_refund(lines=[]),
    "space": _of_refund(currency="EUR "),
    "nested_null": _of_refund(customer={"id": "c7", "tier": None}),
    "note_type": _of_refund(note=7),
    "no_note": _without("note"),
    "other_tool": _rename(REFUND, "issue_credit"),
    "no_refund": _skip(REFUND),
    "twice": _again(LOOKUP),
    "another_order": _another_order,
    "handoff": _handoff,
    "no_handoff": _skip("transfer"),
    "handoff_again": _again("transfer"),
    "no_search": _skip(SEARCH),
}

# The variety of an agent that did not change.


class Turns:
    """Takes the options in turn: five repeats never have the same one by chance."""

    def __init__(self):
        self._taken = count()

    def choice(self, options):
        return options[next(self._taken) % len(options)]

    def shuffle(self, items):
        first = next(self._taken) % len(items)
        items[:] = items[first:] + items[:first]


def _wording_of(options):
    def vary(reply, varied):
        for name, arguments in reply:
            if name == SEARCH:
                arguments["query"] = varied["wording"].choice(options)
            if name == REFUND:
                arguments["note"] = f"Refund, as asked for: {varied['note'].choice(options)}."

    return vary


def _shuffled(reply, varied):
    if len(reply) > 1:
        varied["parallel"].shuffle(reply)


def _set_order(reply, varied):
    lines = ["shoes", "socks"]
    if any(name == REFUND for name, _ in reply):
        varied["set_order"].shuffle(lines)
        _of_refund(lines=lines)([reply])


VARIETY = {
    "wording": _wording_of(WORDINGS),
    "six_mixed": _wording_of(WORDINGS),
    "six_short": _wording_of(SHORT),
    "six_long": _wording_of(LONG),
    "four_mixed": _wording_of(SHORT[:2] + LONG[:2]),
    "four_short": _wording_of(SHORT[:4]),
    "four_long": _wording_of(LONG[:4]),
    "parallel": _shuffled,
    "set_order": _set_order,
}


class ScriptedModel:
    """Answers `POST /<faults>/v1/chat/completions` until it is closed."""

    def __init__(self, seed=None):
        """`seed` makes the variety random, for each attempt and reply; by default each in turn."""
        in_turn = defaultdict(Turns)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # head and body at once: apart, the client waits 40 ms for the second

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                path = self.path.split("/")[1]
                drawn = random.Random(f"{seed}/{path}/{len(asked['messages'])}")
                varied = in_turn if seed is None else defaultdict(lambda: drawn)
                body = json.dumps(_completion(asked, path.split("+"), varied)).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                """Log nothing to stderr."""

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 256

            def handle_error(self, request, address):
                """Ignore a client that closed the connection."""

        self._http = Quiet(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True).start()

    def close(self):
        self._http.shutdown()
        self._http.server_close()


def _completion(asked, faults, varied):
    replies = script()
    for fault in faults:
        if fault in FAULTS:
            FAULTS[fault](replies)
    messages = asked["messages"]
    failed = any(message.get("content") == "error: try again" for message in messages)
    again = next((RETRIES[fault] for fault in faults if fault in RETRIES), None)
    if again and failed:  # the model asks again: with a new id and time, as it always does
        first = next(reply for reply in replies if any(name == again for name, _ in reply))
        later = [(name, dict(arguments)) for name, arguments in first if name == again]
        replies.insert(replies.index(first) + 1, later)
    given = sum(message["role"] == "assistant" for message in messages)
    now = replies[given] if given < len(replies) else []
    for fault in faults:
        if fault in VARIETY:
            VARIETY[fault](now, varied)
    calls = [
        {
            "id": f"call_{uuid4().hex}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for name, arguments in now
    ]
    many = 10 if "cost" in faults else 1
    message = {"role": "assistant", "content": None if calls else "Order 1012: refund on its way."}
    return {
        "id": f"chat_{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": asked["model"],
        "choices": [
            {
                "index": 0,
                "message": message | ({"tool_calls": calls} if calls else {}),
                "finish_reason": "tool_calls" if calls else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": 500 * many,
            "completion_tokens": 40 * many,
            "total_tokens": 540 * many,
        },
    }
