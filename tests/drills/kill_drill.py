"""The kill drill: runs are killed at random moments and resumed, until they are finished.

`python -m tests.drills.kill_drill --kills 500` is the long one, `test_kills.py` the one of every
day. The same seed makes the same choices; where a kill lands still depends on the machine.
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
from tests.drills.project import CASES, SOME_FAIL, WAYS, lasting, undisturbed, write_project
from tests.postgres import execute, postgres_server
from trialrun.cli.main import main as trialrun
from trialrun.errors import UsageError
from trialrun.store import RunState, open_store

NOTHING_TO_RESUME = 5
_MOST_KILLS_OF_A_RUN = 8
_MOMENTS = ("starting", "opening", "running", "running", "running", "finishing")


class Figures(Struct):
    """What a drill has seen."""

    kills: int = 0
    unrecorded: int = 0  # kills before the run was on record
    finishing: int = 0  # kills when every attempt was on record
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
            f"{self.kills} kills ({self.unrecorded} before the run was on record, "
            f"{self.finishing} after its last attempt was), {self.resumes} resumes, "
            f"{self.runs} runs finished; {self.attempts} attempts, {self.calls} agent calls, "
            f"{self.repeated} of them repeated, at most {self.most_repeated} by one kill; "
            f"{self.seconds:.0f} s"
        )


class Round:
    """One run of 200 cases: killed some times, then finished."""

    def __init__(self, folder, location, way, figures, chance):
        self.folder = folder
        self.location = location
        self.way = way
        self.figures = figures
        self.chance = chance
        self.run_id = None
        self.is_finished = False
        self.known = {}  # every attempt on record: (position, attempt) → its bytes
        self.calls = {}  # by the mark of the invocation: how often each case was asked
        self.past = []  # every invocation that is over, with what was on record before and after
        write_project(folder, way.agent)

    def go(self, kills):
        """Kill it so many times, or fewer where it is finished before that."""
        while not self.is_finished:
            is_killed = kills > 0
            invocation = self._begin_or_resume()
            before = list(self.known)
            if is_killed:
                self._await_moment(invocation)
            code = invocation.kill() if is_killed else invocation.wait()
            self._look()
            self.past.append((invocation, before, len(self.known)))
            self._compare()
            if code is None:
                kills -= 1
                self.figures.kills += 1
                self.figures.unrecorded += self.run_id is None
                self.figures.finishing += len(self.known) == CASES * self.way.repeat
            else:
                assert (code, self.is_finished) == (SOME_FAIL, True), invocation.said()
        self._conclude(None if code is None else invocation.report)

    def _begin_or_resume(self):
        """Go on with the run, or begin it again where the kill came before it was on record."""
        if self.run_id is not None:
            self.figures.resumes += 1
            return self._invoke("--resume")
        if self.chance.random() < 0.3:
            self._refuses_to_resume()
        return self._invoke("--repeat", str(self.way.repeat))

    def _invoke(self, *arguments):
        return Invocation(self.folder, self.location, self.way, arguments)

    def _refuses_to_resume(self):
        code, _, said = command("run", str(self.folder / "drill.yaml"), "--resume", self.location)
        assert code == NOTHING_TO_RESUME, said
        assert "no unfinished run to resume" in said

    # When to kill

    def _await_moment(self, invocation):
        """Return at a moment that chance has chosen, or when the process has ended."""
        moment = self.chance.choice(_MOMENTS)
        left = CASES * self.way.repeat - len(self.known)
        made = self._number_of_calls()
        if moment == "starting":
            self._wait_for(invocation, lambda: False, self.chance.uniform(0, 1))
        elif moment == "opening":
            with self._connections() as is_open:
                self._wait_for(invocation, is_open)
            time.sleep(self.chance.uniform(0, 0.2))
        elif moment == "running":
            wanted = made + self.chance.randint(1, max(1, left // 3))
            self._wait_for(invocation, lambda: self._number_of_calls() >= wanted)
            time.sleep(self.chance.uniform(0, 0.02))
        else:
            self._wait_for(invocation, lambda: self._number_of_calls() >= made + left)
            time.sleep(self.chance.uniform(0, 0.25))

    def _wait_for(self, invocation, condition, limit=LONGEST_RUN):
        deadline = time.monotonic() + limit
        while time.monotonic() < deadline and invocation.process.poll() is None:
            if condition():
                return
            time.sleep(0.002)

    @contextlib.contextmanager
    def _connections(self):
        """Yields how to ask whether the store is being opened or made."""
        if "://" not in self.location:
            # A lock while it is made, the log once it is there and open.
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

    def _look(self):
        """Read the log of calls and the store: nothing that was on record is lost or changed."""
        with contextlib.suppress(FileNotFoundError):
            self.calls = {}
            for line in (self.folder / "calls").read_text().splitlines():
                case, mark, _ = line.split()
                self.calls.setdefault(mark, Counter())[int(case)] += 1
        try:
            store = open_store(self.location, create=False)
        except UsageError:  # killed before there was one
            return
        with store:
            runs = store.runs()
            assert len(runs) <= 1, "a kill left a run behind that was begun again"
            if not runs:
                return
            self.run_id = runs[0].id
            self.is_finished = runs[0].state is RunState.FINISHED
            positions = [case.position for case in store.plan(self.run_id)]
            found = list(store.attempts(self.run_id))
        assert positions == list(range(CASES)), "the plan is torn"
        seen = {(made.position, made.attempt): msgspec.json.encode(made) for made in found}
        assert len(seen) == len(found), "an attempt is on record twice"
        for place, record in self.known.items():
            assert seen.get(place) == record, f"{place} was on record, and is lost or changed"
        self.known = seen

    def _compare(self):
        """What each invocation called and counted against what was on record, before and after.

        Each time for all of them: a call that came late would otherwise be nobody's.
        """
        for invocation, before, recorded in self.past:
            made = self.calls.get(invocation.mark, Counter())
            done = Counter(position for position, _ in before)
            for case, times in made.items():
                wanted = self.way.repeat - done[case]
                assert times <= wanted, f"case {case}: asked {times} times, {wanted} were missing"
            new = recorded - len(before)
            repeated = made.total() - new
            assert 0 <= repeated <= self.way.jobs, (
                f"{self.way}: {made.total()} calls, {new} new on record"
            )
            counted = invocation.counted()
            assert counted <= new, f"{counted} were counted, {new} are durable"

    def _conclude(self, report):
        """All that was planned is reported, once, as in a run that nobody disturbed."""
        numbers = range(1, self.way.repeat + 1)
        assert list(self.known) == [(at, number) for at in range(CASES) for number in numbers]
        self._refuses_to_resume()
        text = report.read_text() if report is not None else self._shown()
        assert lasting(json.loads(text)) == undisturbed(self.way.agent, self.way.repeat)
        figures = self.figures
        figures.runs += 1
        figures.attempts += len(self.known)
        for invocation, before, recorded in self.past:
            calls = self.calls.get(invocation.mark, Counter()).total()
            repeated = calls - (recorded - len(before))
            figures.calls += calls
            figures.repeated += repeated
            figures.most_repeated = max(figures.most_repeated, repeated)
            figures.most_counted = max(figures.most_counted, invocation.counted())

    def _shown(self):
        """The report of a run that was finished, and killed before it could say so."""
        code, report, said = command("show", "latest", "--format=json", self.location)
        assert code == SOME_FAIL, said
        return report


def command(*arguments):
    """A command of trialrun's in this process, which takes less time: exit code, stdout, stderr."""
    out, err = io.StringIO(), io.StringIO()
    *given, location = arguments
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = trialrun([*given, "--store", location])
    return code, out.getvalue(), err.getvalue()


def drill(kills, seed, new_location, ways=WAYS):
    """So many kills, over as many runs as that takes. `new_location(folder)` is an empty store."""
    began = time.monotonic()
    chance = random.Random(seed)
    figures = Figures()
    for way in cycle(ways):
        if figures.kills == kills:
            break
        with tempfile.TemporaryDirectory(prefix="drill") as name:
            location = new_location(Path(name))
            Round(Path(name), location, way, figures, chance).go(
                min(_MOST_KILLS_OF_A_RUN, kills - figures.kills)
            )
    figures.seconds = time.monotonic() - began
    return figures


def in_file(folder):
    """Where an SQLite store will be made."""
    return str(folder / "runs.db")


def on_server(folder):
    """A new, empty database of PostgreSQL's; it goes with the server."""
    name = f"drill_{secrets.token_hex(6)}"
    execute(postgres_server(), f"CREATE DATABASE {name} TEMPLATE template0")
    return f"{postgres_server()}/{name}"


def main():
    """The drill over both databases, with its figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500, help="in all, half on either database")
    parser.add_argument("--only", choices=["SQLite", "PostgreSQL"], help="one database")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    given = parser.parse_args()
    sys.stdout.write(f"seed {given.seed}\n")
    half = given.kills // 2
    for name, kills, place in (
        ("SQLite", given.kills - half, in_file),
        ("PostgreSQL", half, on_server),
    ):
        if given.only not in (None, name):
            continue
        sys.stdout.write(f"{name}: {drill(kills, given.seed, place)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
