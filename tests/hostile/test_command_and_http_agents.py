"""Command and HTTP agents that misbehave: their own case is an error, all others are judged."""

from __future__ import annotations

import gzip
import json
import socketserver
import threading
import time
import zlib

import pytest

from tests.hostile.test_python_agents import expect_errors, with_good_cases_between

AGENT = r"""
import json, os, signal, subprocess, sys, time

asked = json.load(sys.stdin)["input"]


def daemonize():
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    time.sleep(300)


if asked == "yes":
    print("yes")
elif asked == "exits 7":
    sys.exit("yes, but no")
elif asked == "JSON, then exits 7":
    print(json.dumps({"output": "yes"}), flush=True)
    os._exit(7)
elif asked == "kills itself":
    os.kill(os.getpid(), signal.SIGKILL)
elif asked == "prints text":
    print("no JSON at all, but yes")
elif asked == "prints a list":
    print('["yes"]')
elif asked == "prints nothing":
    pass
elif asked == "output is null":
    print('{"output": null}')
elif asked == "steps are none":
    print('{"output": "yes", "steps": 7}')
elif asked == "not UTF-8":
    sys.stdout.buffer.write(b"yes \xff")
elif asked == "floods stderr":
    for _ in range(2000):
        os.write(2, b"noise " * 10_000)
    os.write(2, b"the last words")
    print("yes")
elif asked == "floods stdout":
    while True:
        os.write(1, b"yes" * 20_000)
elif asked == "closes stdout, goes on":
    print("yes", flush=True)
    os.close(1)
    time.sleep(300)
elif asked == "closes stdin":
    os.close(0)
    print("yes")
elif asked == "leaves a silent child":
    print("yes", flush=True)
    subprocess.Popen(["sleep", "300"], stdout=subprocess.DEVNULL)
elif asked == "leaves a child":
    print("yes", flush=True)
    subprocess.Popen(["sleep", "300"])
elif asked == "logs, then JSON":
    print("INFO loading")
    print('{"output": "no", "steps": [{"type": "tool_call", "tool_name": "s", '
          '"tool_result": "yes"}]}')
elif asked == "daemonizes":
    print("yes", flush=True)
    daemonize()
elif asked == "hangs":
    time.sleep(300)
elif asked == "ignores SIGTERM":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 300"])
    time.sleep(300)
elif asked == "stops itself":
    os.kill(os.getpid(), signal.SIGSTOP)
elif asked == "allocates":
    kept = []
    while True:
        kept.append(bytearray(10_000_000))
elif asked == "cut off":
    print('{"output": "yes", "steps": [{"type": "tool_c')
elif asked == "JSON, then noise":
    print('{"output": "yes"}\nDEBUG: done')
elif asked == "output twice":
    print('{"output": "no", "output": "yes"}')
"""

COMMAND_ERRORS = {
    "exits 7": "exit 1: yes, but no",
    "JSON, then exits 7": "exit 7",
    "kills itself": "killed by SIGKILL",
    "output is null": "the agent gave no answer",
    "steps are none": "not a valid trace",
    "not UTF-8": "not UTF-8: byte 0xff at offset 4",
    "floods stdout": "more than 34 MB to stdout",
    "leaves a child": "the answer may be incomplete",
    "logs, then JSON": "logs to stderr",
    "prints a list": "a JSON list",
}
ANSWERED = ["prints text", "floods stderr", "closes stdin"]
ANSWERED += ["leaves a silent child"]
TIMED_OUT = dict.fromkeys(
    ("closes stdout, goes on", "hangs", "ignores SIGTERM", "stops itself"), "no answer after 2 s"
)


@pytest.fixture
def commands(bench):
    bench.write("agent.py", AGENT)
    return bench


def command(*words):
    return {"command": list(words)}


PYTHON = command("python3", "agent.py")


@pytest.mark.slow
def test_a_misbehaving_command_is_an_error_of_its_own_case_only(commands):
    names = commands.cases(PYTHON, with_good_cases_between([*COMMAND_ERRORS, *ANSWERED]))
    done = commands.live("-j", "4").expect_complete(names)
    expect_errors(done, COMMAND_ERRORS)
    assert not commands.left_running()
    exported = commands.run("export", "--traces").expect(0, "the last words")
    assert len(exported.out) < 500_000


def test_a_command_that_prints_nothing_is_an_error(commands):
    names = commands.cases(PYTHON, {"one": "prints nothing"})
    done = commands.live().expect_complete(names)
    expect_errors(done, {"one": "the command printed nothing"})


def test_commands_that_time_out_are_killed_with_their_children(commands):
    names = commands.cases(PYTHON, with_good_cases_between(TIMED_OUT), dict.fromkeys(TIMED_OUT, 2))
    done = commands.live("-j", "8").expect_complete(names)
    expect_errors(done, TIMED_OUT)
    assert not commands.left_running()


@pytest.mark.process
def test_a_command_that_allocates_without_end_hits_its_memory_limit(commands):
    names = commands.cases(PYTHON, with_good_cases_between(["allocates"]))
    done = commands.live("--max-memory", "300").expect_complete(names)
    expect_errors(done, {"allocates": "MemoryError"})


def test_a_command_that_daemonizes_is_killed_too(commands):
    names = commands.cases(PYTHON, {"daemonizes": "daemonizes"})
    commands.live().expect_complete(names)
    assert not commands.left_running()


@pytest.mark.parametrize("question", ["cut off", "JSON, then noise", "output twice"])
def test_invalid_json_is_not_an_answer(commands, question):
    names = commands.cases(PYTHON, {question: question})
    assert commands.live().expect_complete(names).statuses[question] != "pass"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no-such-program-here"], "`no-such-program-here` was not found"),
        (["./agent.py"], "cannot be started: Permission denied"),
        (["./text.sh"], "cannot be started: Exec format error"),
        (["."], "cannot be started"),
        (["./interpreter.sh"], "not found"),
        (["x" * 300], "cannot be started: File name too long"),
    ],
)
def test_a_command_that_cannot_be_started_is_an_error(commands, words, message):
    commands.write("text.sh", "no shebang here").chmod(0o755)
    commands.write("interpreter.sh", "#!/no/such/interpreter\n").chmod(0o755)
    names = commands.cases(command(*words), {"one": "yes", "two": "yes"})
    done = commands.live().expect_complete(names)
    expect_errors(done, dict.fromkeys(names, message))


# HTTP agents


def reply(body=b'{"output": "yes"}', status="200 OK", kind="application/json", **headers):
    """A complete HTTP response as bytes."""
    given = {"Content-Type": kind, "Content-Length": str(len(body)), **headers}
    if (body, status, headers) != (b'{"output": "yes"}', "200 OK", {}):
        # The server closes the connection: a client that reuses it would be cut off in between.
        given["Connection"] = "close"
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in given.items() if value)]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def layers_of_zeros(megabytes):
    """Zeros, compressed twice to a few kilobytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    part = packer.compress(b"\0" * 10**6) + packer.flush(zlib.Z_FULL_FLUSH)
    return gzip.compress(gzip.compress(b"")[:10] + part * megabytes, 9)


def slowly(connection, data):
    """Send one byte at a time until the client disconnects."""
    for byte in data:
        connection.sendall(bytes((byte,)))
        time.sleep(0.2)


def endless(connection):
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while True:
        connection.sendall(b"yes" * 20_000)


def later(value):
    """A 429 with this Retry-After, then an answer."""
    return [reply(b"", "429 Too Many Requests", **{"Retry-After": value}), reply()]


SECRET_REDIRECT = "http://127.0.0.1:9/elsewhere"

# Question → what the server does: send bytes, call a function with the connection, or (a list) send
# one item for each request.
REPLIES = {
    "yes": reply(),
    "500": reply(b"down", "500 Internal Server Error"),
    "404": reply(b"what?", "404 Not Found"),
    "403 HTML": reply(b"<h1>no</h1>", "403 Forbidden", "text/html"),
    "redirect": reply(b"", "302 Found", Location=SECRET_REDIRECT),
    "wrong type": reply(b"<p>yes</p>", kind="text/html"),
    "image": reply(b"yes", kind="image/png"),
    "not JSON": reply(b"yes"),
    "not UTF-8": reply(b'{"output": "yes \xff"}'),
    "Latin-1": reply("yes, très".encode("latin-1"), kind="text/plain; charset=latin-1"),
    "no output": reply(b'{"answer": "yes"}'),
    "a list": reply(b'["yes"]'),
    "NaN": reply(b'{"output": "yes", "cost": NaN}'),
    "deep": reply(b'{"output": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "nothing": b"",
    "garbage": b"\0\xff not HTTP at all\r\n\r\n",
    "cut off": reply(b'{"output": "yes"}')[:-5],
    "too short": b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\nyes",
    "huge headers": b"HTTP/1.1 200 OK\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n{}",
    "not gzip": reply(b"yes", **{"Content-Encoding": "gzip"}),
    "bomb": reply(gzip.compress(b"\0" * 300_000_000, 9), **{"Content-Encoding": "gzip"}),
    "endless body": endless,
    "slow headers": lambda connection: slowly(connection, reply() * 10),
    "slow body": lambda connection: (
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"),
        slowly(connection, b"yes" * 99),
    ),
    "silence": lambda connection: time.sleep(60),
    "double bomb": reply(layers_of_zeros(1500), **{"Content-Encoding": "gzip, gzip"}),
    "later 0": later("0"),
    "later -1": later("-1"),
    "later in 1970": later("Thu, 01 Jan 1970 00:00:00 GMT"),
    "later nan": later("nan"),
    "later 1e400": later("1e400"),
    "later soon": later("soon"),
    "later nonsense": later("Thu, 99 Foo 0000 99:99:99 +9999"),
    "later 1e9": [reply(b"", "429 Too Many Requests", **{"Retry-After": "1e9"})] * 9,
    "later 3600": [reply(b"", "429 Too Many Requests", **{"Retry-After": "3600"})] * 9,
    "later in 2999": [reply(b"", "503 Busy", **{"Retry-After": "Fri, 01 Jan 2999 00:00:00 GMT"})]
    * 9,
    "cut, then yes": [b"", reply()],
}


class Handler(socketserver.StreamRequestHandler):
    """Reads requests one after another, and does what REPLIES has for the question."""

    def handle(self):
        try:
            while self.answer():
                pass
        except OSError:
            return

    def answer(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = self.rfile.read(1)
            if not byte:
                return False
            head += byte
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
        asked = json.loads(self.rfile.read(length))["input"]
        self.server.asked.append(asked)
        action = REPLIES[asked]
        if isinstance(action, list):
            action = action[min(self.server.asked.count(asked), len(action)) - 1]
        if callable(action):
            action(self.connection)
            return False
        self.connection.sendall(action)
        return action == REPLIES["yes"]


@pytest.fixture
def address():
    """A server that handles each question as REPLIES says; `asked` lists the questions received."""

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 64

    with Server(("127.0.0.1", 0), Handler) as server:
        server.asked = []
        server.url = f"http://127.0.0.1:{server.server_address[1]}/chat"
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


UNREACHABLE = "cannot be reached"
HTTP_ERRORS = {
    "500": 'the address answered 500: "down"',
    "404": 'the address answered 404: "what?"',
    "403 HTML": "the address answered 403",
    "redirect": "the address answered 302",
    "wrong type": "the reply is text/html, expected JSON or plain text",
    "image": "the reply is image/png",
    "not JSON": "the reply is not JSON",
    "not UTF-8": "the reply is not",
    "Latin-1": "the reply is not UTF-8",
    "no output": "set `answer:` to the path of the answer",
    "a list": "expected an object with `output`",
    "NaN": "the reply is not JSON",
    "deep": "the reply is not JSON",
    "nothing": UNREACHABLE,
    "garbage": UNREACHABLE,
    "cut off": UNREACHABLE,
    "too short": UNREACHABLE,
    "huge headers": UNREACHABLE,
    "not gzip": UNREACHABLE,
    "bomb": "the reply has more than 34 MB",
    "endless body": "the reply has more than 34 MB",
}


def test_a_bad_reply_is_an_error_of_its_own_case_only(bench, address):
    names = bench.cases({"url": address.url}, with_good_cases_between(HTTP_ERRORS))
    done = bench.live("--retries", "0").expect_complete(names)
    expect_errors(done, HTTP_ERRORS)


def test_a_slow_or_silent_server_times_out(bench, address):
    timed_out = dict.fromkeys(("slow headers", "slow body", "silence"), "no answer after 2 s")
    names = bench.cases(
        {"url": address.url}, with_good_cases_between(timed_out), dict.fromkeys(timed_out, 2)
    )
    done = bench.live().expect_complete(names)
    expect_errors(done, timed_out)


def test_an_invalid_retry_after_is_retried_and_a_too_long_one_is_not(bench, address):
    asked = [question for question in REPLIES if question.startswith("later ")]
    too_late = ("later 3600", "later in 2999")  # longer than we wait: not asked again
    names = bench.cases({"url": address.url}, with_good_cases_between(asked))
    done = bench.live("-j", "30").expect_complete(names)
    expect_errors(done, dict.fromkeys((*too_late, "later 1e9"), "the address answered"))
    assert all(address.asked.count(question) == 1 for question in too_late)


def test_a_retry_after_of_a_billion_seconds_is_not_retried(bench, address):
    bench.cases({"url": address.url}, {"one": "later 1e9"})
    bench.live()
    assert address.asked == ["later 1e9"]


def test_a_dropped_connection_is_retried(bench, address):
    names = bench.cases({"url": address.url}, with_good_cases_between(["cut, then yes"]))
    expect_errors(bench.live().expect_complete(names), {})


def test_an_endless_500_is_retried_as_often_as_the_option_says(bench, address):
    names = bench.cases({"url": address.url}, with_good_cases_between(["500"]))
    done = bench.live("--retries", "1").expect_complete(names)
    expect_errors(done, {"500": '500: "down" (tried 2 times)'})
    assert address.asked.count("500") == 2


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("http://127.0.0.1:9/chat", UNREACHABLE),
        ("http://no-such-host.invalid/", UNREACHABLE),
        ("http://127.0.0.1:9/{{input}}", UNREACHABLE),
    ],
)
def test_an_unreachable_address_is_an_error(bench, url, message):
    names = bench.cases({"url": url}, {"one": "yes", "two": "yes"})
    done = bench.live("--retries", "1").expect_complete(names)
    expect_errors(done, dict.fromkeys(names, message))


def test_a_doubly_compressed_bomb_is_refused_in_bounded_memory(bench, address):
    bench.cases({"url": address.url}, {"one": "double bomb"})
    done, peak = bench.measure("run", "spec.yaml", "--retries", "0")
    done.expect(3, "the reply has more than 34 MB")
    assert peak < 300


def test_a_missing_variable_of_a_header_is_reported_before_anything_is_sent(bench, address):
    bench.cases({"url": address.url, "headers": {"Authorization": "${NOT_SET_AT_ALL}"}}, {"a": "b"})
    bench.live().expect(2, "NOT_SET_AT_ALL is not set")
    assert address.asked == []


@pytest.mark.parametrize("value", ["two\nlines-4711", "ключ-from-afar-4711"])
def test_a_header_that_cannot_be_sent_does_not_show_its_value(bench, address, value):
    bench.cases({"url": address.url, "headers": {"X-Key": "${SOME_API_KEY}"}}, {"one": "yes"})
    done = bench.live("--retries", "0", env={"SOME_API_KEY": value})
    assert "Traceback" not in done.err
    assert done.code in (2, 3)
    assert "4711" not in done.text
    assert address.asked == []


def test_a_header_that_cannot_be_sent_is_reported_before_anything_runs(bench, address):
    bench.cases({"url": address.url, "headers": {"X-Key": "${SOME_API_KEY}"}}, {"one": "yes"})
    bench.live(env={"SOME_API_KEY": "two\nlines-4711"}).expect(2, "header")
