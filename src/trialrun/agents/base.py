"""The interfaces of agents: a kind of agent, the question it gets and the reply it gives.

Whatever an agent does, crashes included, ends in a `Reply`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from msgspec import Struct

from trialrun.model.trace_status import TraceStatus

if TYPE_CHECKING:
    from trialrun.agents.running.processes import Reaper
    from trialrun.spec.validation import Place, Problems

LARGEST_ANSWER = 32 * 1024 * 1024
"""Most bytes of an answer: a larger one is not useful and costs memory."""

MOST_STEPS = 50_000
"""Most steps of an answer: reading them takes seconds, in which other cases wait."""

LARGE_REPLY = 1024 * 1024
"""Bytes from which on a reply is read in a thread, so that other cases go on meanwhile."""

LARGEST_NOTE = 16 * 1024
"""Most bytes of printed output that are kept: the end, where a crash is reported."""


NOT_ISOLATED = "not isolated: "
"""Begins the note of an agent whose cases may see each other's state."""


class Question(Struct, kw_only=True):
    """One turn of a case as the agent gets it. `history` is the conversation before it.

    `folder` is the working folder of the case, if it has one.
    """

    input: str
    history: Sequence[dict[str, str]] = ()
    case: dict[str, Any] = {}
    folder: str | None = None

    def plain(self) -> dict[str, Any]:
        """The JSON that a command or an address is sent."""
        return {"input": self.input, "history": list(self.history), "case": self.case}


class Failure(Struct, kw_only=True):
    """Why there is no answer.

    A `transient` failure (a refused connection, a 429) says nothing about the agent: it is retried,
    after `retry_after` seconds if the server named a time. `crashed`: by an exception, a signal or
    an exit code.
    """

    message: str
    status: TraceStatus = TraceStatus.ERROR
    crashed: bool = False
    transient: bool = False
    retry_after: float | None = None


class Reply(Struct, kw_only=True):
    """The result of one question: an answer as plain fields of a trace, or a failure."""

    answer: dict[str, Any] | None = None
    failure: Failure | None = None
    printed: str = ""
    duration_ms: float = 0.0


class Agent(Protocol):
    """An agent that can be asked. `start` raises PluginError if it can never work."""

    async def start(self, takes_turns: bool) -> None:
        """Get ready. `takes_turns`: some cases are conversations."""

    async def ask(self, question: Question, limit: float) -> Reply:
        """The reply; it comes within `limit` seconds plus a short grace period."""

    async def close(self) -> None:
        """End everything that was started."""


class AgentContext(Struct, frozen=True, kw_only=True):
    """What an agent needs to know about the run."""

    folder: str  # the spec's folder
    reaper: Reaper  # kills processes that a killed run would leave running
    in_process: bool = False  # call Python functions in this process


class AgentKind(ABC):
    """The base of every kind of agent; its name is the name of its file and its key in a spec.

    The first field of `settings` is that key (`url: http://…`), the others are optional keys beside
    it. `about` describes them for the JSON schema.
    """

    name: ClassVar[str]
    settings: ClassVar[type[Struct]]
    about: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def check(cls, key: str, value: Any, place: Place, problems: Problems) -> Any:
        """The value of a setting, whose type is already checked; add further problems."""
        return value

    @classmethod
    @abstractmethod
    def create(cls, settings: Any, context: AgentContext) -> Agent:
        """The agent with these settings, not yet started."""

    @classmethod
    def missing(cls, settings: Any, folder: str) -> str | None:
        """What `create` would not find, for `validate`: "`node`: command not found"."""
        return None

    @classmethod
    def secret_variables(cls, settings: Any) -> Sequence[str]:
        """The environment variables whose values must not be stored."""
        return ()


def timed_out(limit: float, more: str = "") -> Failure:
    """The failure of an agent that exceeded its time limit."""
    return Failure(message=f"no answer after {limit:g} s{more}", status=TraceStatus.TIMEOUT)


def tail(text: str) -> str:
    """The end of the printed output, as much as is kept."""
    return text if len(text) <= LARGEST_NOTE else f"… {text[-LARGEST_NOTE:]}"


def megabytes(size: int) -> str:
    """A size for people, such as `34 MB`."""
    return f"{size / 1_000_000:,.0f} MB"
