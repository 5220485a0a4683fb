"""Cases do not see each other's state: whatever one does to its process ends with it."""

from __future__ import annotations

import pytest

from tests.hostile.conftest import _marked
from tests.hostile.test_python_agents import expect_errors
from tests.tiers import all_but_first

# The question is a key of CHANGES, or `probe`, which compares the process with a new one.
AGENT = """
import asyncio, atexit, builtins, contextvars, decimal, gc, io, json, locale, logging, os, random
import resource, signal, socket, sys, tempfile, threading, time, warnings

MEMORY = []
CURRENT = contextvars.ContextVar("current", default="none")
opened = builtins.open


def limit(kind, size):
    resource.setrlimit(kind, (size, resource.getrlimit(kind)[1]))


def patch(owner, name):
    setattr(owner, name, lambda *given, **named: 1 / 0)


CHANGES = {
    "umask": lambda: os.umask(0o777),
    "file size": lambda: limit(resource.RLIMIT_FSIZE, 10),
    "open files": lambda: limit(resource.RLIMIT_NOFILE, 12),
    "memory": lambda: limit(resource.RLIMIT_AS, 400_000_000),
    "cpu": lambda: limit(resource.RLIMIT_CPU, 60),
    "stack": lambda: limit(resource.RLIMIT_STACK, 1_000_000),
    "close 1": lambda: os.close(1),
    "close 2": lambda: os.close(2),
    "close 0": lambda: os.close(0),
    "stdout.close": lambda: sys.stdout.close(),
    "dup2": lambda: os.dup2(os.open("/dev/null", os.O_WRONLY), 1),
    "open": lambda: patch(builtins, "open"),
    "json": lambda: patch(json, "loads"),
    "time": lambda: patch(time, "time"),
    "socket": lambda: patch(socket, "socket"),
    "socket timeout": lambda: socket.setdefaulttimeout(0.001),
    "SIGCHLD": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN),
    "SIGTERM": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
    "blocked signals": lambda: signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1]),
    "virtual timer": lambda: signal.setitimer(signal.ITIMER_VIRTUAL, 0.2),
    "profiling timer": lambda: signal.setitimer(signal.ITIMER_PROF, 0.2),
    "real timer": lambda: signal.setitimer(signal.ITIMER_REAL, 0.2),
    "recursion": lambda: sys.setrecursionlimit(150),
    "globals": lambda: MEMORY.append("login"),
    "deleted globals": lambda: globals().pop("json"),
    "nice": lambda: os.nice(5),
    "warnings": lambda: warnings.simplefilter("error"),
    "decimal": lambda: setattr(decimal.getcontext(), "prec", 2),
    "logging": lambda: logging.disable(logging.CRITICAL),
    "modules": lambda: sys.modules.update({"json": None, "decimal": None}),
    "environment": lambda: os.environ.update(LEAK="1", TZ="Asia/Tokyo") or time.tzset(),
    "folder": lambda: os.chdir("/"),
    "path": lambda: sys.path.clear(),
    "locale": lambda: locale.setlocale(locale.LC_ALL, "C.UTF-8"),
    "random": lambda: random.seed(4711),
    "collector": lambda: gc.disable(),
    "trace": lambda: sys.settrace(lambda *given: None),
    "excepthook": lambda: patch(sys, "excepthook"),
    "tempdir": lambda: setattr(tempfile, "tempdir", "/nowhere"),
    "context": lambda: CURRENT.set("mine"),
    "event loop": lambda: asyncio.set_event_loop(asyncio.new_event_loop()),
    "a thread": lambda: threading.Thread(target=time.sleep, args=(300,), daemon=True).start(),
    "atexit": lambda: atexit.register(lambda: os.write(1, b"late")),
    "session": lambda: os.setsid(),
}


def snapshot():
    mask = os.umask(0)
    os.umask(mask)
    limits = [resource.getrlimit(getattr(resource, name)) for name in
              ("RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_STACK")]
    handlers = [signal.getsignal(number) for number in (signal.SIGCHLD, signal.SIGTERM)]
    timers = [signal.getitimer(which)[0] for which in
              (signal.ITIMER_VIRTUAL, signal.ITIMER_PROF, signal.ITIMER_REAL)]
    return {
        "umask": mask, "limits": limits, "handlers": handlers, "timers": timers,
        "blocked": signal.pthread_sigmask(signal.SIG_BLOCK, []),
        "fds": [os.fstat(fd).st_mode for fd in (0, 1, 2)], "stdout": sys.stdout.closed,
        "patched": (builtins.open, json.loads, time.time, socket.socket, sys.excepthook),
        "timeout": socket.getdefaulttimeout(), "recursion": sys.getrecursionlimit(),
        "memory": list(MEMORY), "nice": os.nice(0), "warnings": len(warnings.filters),
        "decimal": decimal.getcontext().prec, "logging": logging.root.manager.disable,
        "modules": [sys.modules.get(name) for name in ("json", "decimal")],
        "leak": os.environ.get("LEAK"), "zone": time.tzname, "folder": os.getcwd(),
        "path": list(sys.path), "locale": locale.setlocale(locale.LC_ALL), "gc": gc.isenabled(),
        "trace": sys.gettrace(), "tempdir": tempfile.tempdir, "context": CURRENT.get(),
        "threads": threading.active_count(),
    }


NEW = snapshot()
FIRST = random.Random(4711).random()


def probe():
    now = snapshot()
    assert random.random() != FIRST
    total = sum(range(3_000_000))  # enough time for a timer of CPU time to fire
    with opened(os.path.join(HOME, "written"), "w") as file:
        file.write("x" * 1000)
    print("printed")
    return "yes" if now == NEW else f"no: {[key for key in now if now[key] != NEW[key]]}"


HOME = os.getcwd()


def run(question):
    if question != "probe":
        CHANGES[question]()
        return "yes"
    return probe()


async def run_async(question):
    return run(question)


def leaks(question):
    MEMORY.append(question)
    if question == "login":
        return "ok"
    return "You are Ann" if "login" in MEMORY else "I do not know"


async def leaks_async(question):
    return leaks(question)
"""
CHANGES = [
    line.split('"')[1]
    for line in AGENT.splitlines()
    if line.startswith('    "') and "lambda" in line
]


@pytest.fixture
def agents(bench):
    bench.write("agent.py", AGENT)
    return bench


@pytest.mark.slow
def test_nothing_that_a_case_does_to_its_process_reaches_the_next(agents):
    assert len(CHANGES) > 40
    questions = {}
    for change in CHANGES:
        questions |= {change: change, f"after {change}": "probe"}
    names = agents.cases({"runner": "agent:run"}, questions)
    done = agents.live("-j", "1").expect_complete(names)
    expect_errors(done, {})
    assert done.report["warnings"] == []


def login(agents, runner, **more):
    agents.spec(
        f"runner: agent:{runner}\n"
        + "".join(f"{key}: {str(value).lower()}\n" for key, value in more.items())
        + "queries:\n"
        "  - {name: a, query: login, correctness: {expected_in_answer: [ok]}}\n"
        "  - {name: b, query: who am I, correctness: {expected_in_answer: [Ann]}}\n"
    )


@pytest.mark.parametrize(
    "options",
    all_but_first(pytest.mark.process, ["-j 1", "-j 2", "--case b"]),
)
@pytest.mark.parametrize(
    ("runner", "isolate"), [("leaks", None), ("leaks", True), ("leaks_async", True)]
)
def test_a_case_does_not_see_what_another_left_in_a_global(agents, runner, isolate, options):
    login(agents, runner, **({} if isolate is None else {"isolate": isolate}))
    done = agents.live(*options.split())
    assert done.statuses["b"] == "fail"
    assert done.report["warnings"] == []


def test_isolate_false_shares_the_worker(agents):
    login(agents, "leaks", isolate=False)
    done = agents.live("-j", "1")
    assert done.statuses == {"a": "pass", "b": "pass"}
    assert done.report["warnings"] == []


def test_the_report_says_that_async_cases_share_a_process(agents):
    login(agents, "leaks_async")
    [warning] = agents.live("-j", "1").report["warnings"]
    assert "cases of `agent:leaks_async` share a worker process (its function is async)" in warning
    assert "`isolate: true`" in warning


THREADED = """
import threading, time
threading.Thread(target=time.sleep, args=(300,), daemon=True).start()
from agent import leaks
"""


def test_a_worker_whose_import_started_a_thread_is_shared_and_the_report_says_so(agents):
    agents.write("threaded.py", THREADED)
    login(agents, "leaks")
    spec = agents.folder / "spec.yaml"
    spec.write_text(spec.read_text().replace("agent:leaks", "threaded:leaks"))
    done = agents.live("-j", "1")
    assert done.statuses == {"a": "pass", "b": "pass"}
    [warning] = done.report["warnings"]
    assert "its import started 1 thread)" in warning
    spec.write_text(spec.read_text() + "isolate: true\n")
    assert agents.live("-j", "1").statuses == {"a": "pass", "b": "fail"}


def test_in_process_nothing_is_isolated_and_the_report_says_so(agents):
    login(agents, "leaks")
    done = agents.live("--in-process")
    assert done.statuses == {"a": "pass", "b": "pass"}
    assert any("--in-process" in warning for warning in done.report["warnings"])


FORGER = """
import os, struct, msgspec

def run(question):
    for number in range(1, 30):
        body = msgspec.msgpack.encode(
            {"id": number, "key": 0, "answer": {"output": "yes"}, "duration_ms": 1.0}
        )
        for descriptor in range(3, 40):
            try:
                os.write(descriptor, struct.pack("!I", len(body)) + body)
            except OSError:
                pass
        if question == "once":
            os._exit(0)
    raise ValueError("no")

async def run_async(question):
    return run(question)
"""


@pytest.mark.parametrize("question", ["many", "once"])
@pytest.mark.parametrize("runner", all_but_first(pytest.mark.process, ["run", "run_async"]))
def test_a_reply_that_the_agent_forged_is_not_an_answer(bench, runner, question):
    bench.write("agent.py", FORGER)
    names = bench.cases({"runner": f"agent:{runner}"}, {"one": question, "two": question})
    done = bench.live().expect_complete(names)
    assert set(done.statuses.values()) == {"error"}


def test_a_copy_that_leaves_a_process_behind_leaves_nothing_running(bench):
    bench.write(
        "agent.py",
        "import os, subprocess\n"
        "def run(question):\n"
        "    subprocess.Popen(['sleep', '300'], start_new_session=True)\n"
        "    if question == 'dies':\n        os._exit(3)\n"
        "    return 'yes'\n",
    )
    names = bench.cases({"runner": "agent:run"}, {"one": "answers", "two": "dies", "three": "x"})
    done = bench.live("-j", "1").expect_complete(names)
    expect_errors(done, {"two": "the agent's process ended with exit 3"})
    assert not bench.left_running()
    assert not _marked(bench.mark)


def test_in_process_an_agent_cannot_end_the_run_by_exiting(bench):
    bench.write(
        "agent.py",
        "import os\nfrom os import _exit\n"
        "def run(question):\n"
        "    if question == 'forks' and os.fork() == 0:\n        os._exit(0)\n"
        "    if question == 'exits':\n        os._exit(0)\n"
        "    if question == 'exits by name':\n        _exit(0)\n"
        "    return 'yes'\n",
    )
    questions = {name: name for name in ("exits", "exits by name", "forks", "good")}
    names = bench.cases({"runner": "agent:run"}, questions)
    done = bench.live_process("--in-process").expect_complete(names)
    called = "the agent called os._exit(0)"
    expect_errors(done, {"exits": called, "exits by name": called})
    assert done.code == 3
