"""The kill drill: kill runs at random moments and resume them until they are finished.

`python -m tests.drills.kill_drill --kills 500` is the long drill, `test_kills.py` the short one.
The same seed makes the same choices; the exact moment of a kill still depends on the machine.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import secrets
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle
from pathlib import Path

import msgspec
import psycopg
from msgspec import Struct

from tests.drills.invocation import LONGEST_RUN, Invocation
from tests.drills.project import (
    CASES,
    SETUPS,
    SOME_FAIL,
    report_without_kills,
    reproducible,
    write_project,
)
from tests.postgres import execute, postgres_server
from trialrun.cli.main import main as trialrun
from trialrun.errors import UsageError
from trialrun.store import RunState, open_store

NOTHING_TO_RESUME = 5
_MAX_KILLS_PER_RUN = 8
_MOMENTS = ("starting", "opening", "running", "running", "running", "finishing")


class Counts(Struct):
    """The counts of a drill."""

    kills: int = 0
    unrecorded: int = 0  # kills before the run was recorded
    finishing: int = 0  # kills after every attempt was recorded
    resumes: int = 0
    runs: int = 0
    attempts: int = 0
    calls: int = 0
    repeated: int = 0
    most_repeated: int = 0
    most_counted: int = 0
    seconds: float = 0.0

    def __str__(self):
        return (
            f"{self.kills} kills ({self.unrecorded} before the run was recorded, "
            f"{self.finishing} after its last attempt was), {self.resumes} resumes, "
            f"{self.runs} runs finished; {self.attempts} attempts, {self.calls} agent calls, "
            f"{self.repeated} of them repeated, at most {self.most_repeated} by one kill; "
            f"{self.seconds:.0f} s"
        )


class Round:
    """One run of 200 cases: killed several times, then finished."""

    def __init__(self, folder, location, setup, counts, rng):
        self.folder = folder
        self.location = location
        self.setup = setup
        self.counts = counts
        self.rng = rng
        self.run_id = None
        self.is_finished = False
        self.known = {}  # every recorded attempt: (position, attempt) → its bytes
        self.calls = {}  # by the mark of the invocation: how often each case was called
        self.past = []  # ended invocations, with the attempts recorded before and after each
        write_project(folder, setup.agent)

    def kill_and_resume(self, kills):
        """Kill it so many times, or fewer if it finishes earlier."""
        while not self.is_finished:
            will_be_killed = kills > 0
            invocation = self._begin_or_resume()
            before = list(self.known)
            if will_be_killed:
                self._await_moment(invocation)
            code = invocation.kill() if will_be_killed else invocation.wait()
            self._read_records()
            self.past.append((invocation, before, len(self.known)))
            self._compare_calls_with_records()
            if code is None:
                kills -= 1
                self.counts.kills += 1
                self.counts.unrecorded += self.run_id is None
                self.counts.finishing += len(self.known) == CASES * self.setup.repeat
            else:
                assert (code, self.is_finished) == (SOME_FAIL, True), invocation.printed()
        self._check_report(None if code is None else invocation.report)

    def _begin_or_resume(self):
        """Resume the run, or start it again if it was killed before it was recorded."""
        if self.run_id is not None:
            self.counts.resumes += 1
            return self._invoke("--resume")
        if self.rng.random() < 0.3:
            self._refuses_to_resume()
        return self._invoke("--repeat", str(self.setup.repeat))

    def _invoke(self, *arguments):
        return Invocation(self.folder, self.location, self.setup, arguments)

    def _refuses_to_resume(self):
        code, _, errors = command("run", str(self.folder / "drill.yaml"), "--resume", self.location)
        assert code == NOTHING_TO_RESUME, errors
        assert "no unfinished run to resume" in errors

    # When to kill

    def _await_moment(self, invocation):
        """Return at a random moment, or when the process has ended."""
        moment = self.rng.choice(_MOMENTS)
        left = CASES * self.setup.repeat - len(self.known)
        made = self._number_of_calls()
        if moment == "starting":
            self._wait_for(invocation, lambda: False, self.rng.uniform(0, 1))
        elif moment == "opening":
            with self._connections() as is_open:
                self._wait_for(invocation, is_open)
            time.sleep(self.rng.uniform(0, 0.2))
        elif moment == "running":
            wanted = made + self.rng.randint(1, max(1, left // 3))
            self._wait_for(invocation, lambda: self._number_of_calls() >= wanted)
            time.sleep(self.rng.uniform(0, 0.02))
        else:
            self._wait_for(invocation, lambda: self._number_of_calls() >= made + left)
            time.sleep(self.rng.uniform(0, 0.25))

    def _wait_for(self, invocation, condition, limit=LONGEST_RUN):
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline and invocation.process.poll() is None:
            if condition():
                return
            time.sleep(0.002)

    @contextlib.contextmanager
    def _connections(self):
        """Yield a function that says whether the store is being opened or created."""
        if "://" not in self.location:
            # The lock while it is created, the write-ahead log while it is open.
            yield lambda: any(self.folder.glob("runs.db[.-]*"))
            return
        server, _, name = self.location.rpartition("/")
        query = "SELECT count(*) FROM pg_stat_activity WHERE datname = %s"
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            yield lambda: connection.execute(query, [name]).fetchone()[0] > 0

    def _number_of_calls(self):
        with contextlib.suppress(FileNotFoundError):
            return (self.folder / "calls").read_bytes().count(b"\n")
        return 0

    # What must hold after each kill

    def _read_records(self):
        """Read the log of calls and the store; require that no record is lost or changed."""
        with contextlib.suppress(FileNotFoundError):
            self.calls = {}
            for line in (self.folder / "calls").read_text().splitlines():
                case, mark, _ = line.split()
                self.calls.setdefault(mark, Counter())[int(case)] += 1
        try:
            store = open_store(self.location, create=False)
        except UsageError:  # killed before it was created
            return
        with store:
            runs = store.runs()
            assert len(runs) <= 1, "a run was recorded and then started again"
            if not runs:
                return
            self.run_id = runs[0].id
            self.is_finished = runs[0].state is RunState.FINISHED
            positions = [case.position for case in store.plan(self.run_id)]
            found = list(store.attempts(self.run_id))
        assert positions == list(range(CASES)), "the plan is incomplete"
        seen = {(made.position, made.attempt): msgspec.json.encode(made) for made in found}
        assert len(seen) == len(found), "an attempt is recorded twice"
        for place, record in self.known.items():
            assert seen.get(place) == record, f"{place} was recorded, and is lost or changed"
        self.known = seen

    def _compare_calls_with_records(self):
        """Compare what each invocation called and reported with what was recorded.

        Checks all invocations each time: a call that is logged late would be missed otherwise.
        """
        for invocation, before, recorded in self.past:
            made = self.calls.get(invocation.mark, Counter())
            done = Counter(position for position, _ in before)
            for case, times in made.items():
                wanted = self.setup.repeat - done[case]
                assert times <= wanted, f"case {case}: called {times} times, {wanted} were missing"
            new = recorded - len(before)
            repeated = made.total() - new
            assert 0 <= repeated <= self.setup.jobs, (
                f"{self.setup}: {made.total()} calls, {new} new attempts recorded"
            )
            counted = invocation.counted()
            assert counted <= new, f"{counted} were reported, {new} are recorded"

    def _check_report(self, report):
        """Require that the report has every planned attempt once, as in a run without kills."""
        numbers = range(1, self.setup.repeat + 1)
        assert list(self.known) == [(at, number) for at in range(CASES) for number in numbers]
        self._refuses_to_resume()
        text = report.read_text() if report is not None else self._report_from_store()
        assert reproducible(json.loads(text)) == report_without_kills(
            self.setup.agent, self.setup.repeat
        )
        counts = self.counts
        counts.runs += 1
        counts.attempts += len(self.known)
        for invocation, before, recorded in self.past:
            calls = self.calls.get(invocation.mark, Counter()).total()
            repeated = calls - (recorded - len(before))
            counts.calls += calls
            counts.repeated += repeated
            counts.most_repeated = max(counts.most_repeated, repeated)
            counts.most_counted = max(counts.most_counted, invocation.counted())

    def _report_from_store(self):
        """The report of a run that was killed after its last record, before it printed."""
        code, report, errors = command("show", "latest", "--format=json", self.location)
        assert code == SOME_FAIL, errors
        return report


def command(*arguments):
    """Run a trialrun command in this process, to save time: exit code, stdout, stderr."""
    out, err = io.StringIO(), io.StringIO()
    *given, location = arguments
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = trialrun([*given, "--store", location])
    return code, out.getvalue(), err.getvalue()


def drill(kills, seed, new_location, setups=SETUPS):
    """So many kills, over as many runs as that takes. `new_location(folder)` is an empty store."""
    began = time.monotonic()
    rng = random.Random(seed)
    counts = Counts()
    for setup in cycle(setups):
        if counts.kills == kills:
            break
        with tempfile.TemporaryDirectory(prefix="drill") as name:
            location = new_location(Path(name))
            Round(Path(name), location, setup, counts, rng).kill_and_resume(
                min(_MAX_KILLS_PER_RUN, kills - counts.kills)
            )
    counts.seconds = time.monotonic() - began
    return counts


def sqlite_location(folder):
    """The path of a new SQLite store."""
    return str(folder / "runs.db")


def postgresql_location(folder):
    """The URL of a new, empty PostgreSQL database; it is deleted with the server."""
    name = f"drill_{secrets.token_hex(6)}"
    execute(postgres_server(), f"CREATE DATABASE {name} TEMPLATE template0")
    return f"{postgres_server()}/{name}"


def main():
    """Run the drill on both databases and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="in total, half on each database")
    parser.add_argument("--only", choices=["SQLite", "PostgreSQL"], help="use one database only")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    given = parser.parse_args()
    sys.stdout.write(f"seed {given.seed}\n")
    half = given.kills // 2
    for name, kills, place in (
        ("SQLite", given.kills - half, sqlite_location),
        ("PostgreSQL", half, postgresql_location),
    ):
        if given.only not in (None, name):
            continue
        sys.stdout.write(f"{name}: {drill(kills, given.seed, place)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
