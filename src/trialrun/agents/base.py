"""What a kind of agent is, what an agent is asked, and what can come of it.

Whatever an agent does ends in a `Reply`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from msgspec import Struct

from trialrun.model.trace import TraceStatus

if TYPE_CHECKING:
    from trialrun.agents.running.processes import Keeper
    from trialrun.spec.validation import Place, Problems

LARGEST_ANSWER = 32 * 1024 * 1024
"""Bytes of an answer that are taken. More is no answer that anybody reads, and costs memory."""

LARGEST_NOTE = 16 * 1024
"""Bytes of what an agent printed that are kept: the end, where a crash says what it was."""


class Question(Struct, kw_only=True):
    """One turn of a case, as an agent gets it. `history` is the conversation before it.

    `folder` is the working folder of the case, where it has one.
    """

    input: str
    history: Sequence[dict[str, str]] = ()
    case: dict[str, Any] = {}
    folder: str | None = None

    def plain(self) -> dict[str, Any]:
        """What a command or an address is sent."""
        return {"input": self.input, "history": list(self.history), "case": self.case}


class Failure(Struct, kw_only=True):
    """Why there is no answer.

    A `transient` one is nobody's verdict on the agent (a refused connection, a 429): it may be
    asked again, after `retry_after` seconds where the other side said so.
    """

    message: str
    status: TraceStatus = TraceStatus.ERROR
    transient: bool = False
    retry_after: float | None = None


class Reply(Struct, kw_only=True):
    """What came of one question: an answer as plain fields of a trace, or a failure."""

    answer: dict[str, Any] | None = None
    failure: Failure | None = None
    printed: str = ""
    duration_ms: float = 0.0


class Agent(Protocol):
    """Something that can be asked. `start` raises PluginError where that cannot work at all."""

    async def start(self, takes_turns: bool) -> None:
        """Get ready. `takes_turns`: there are conversations among the cases."""

    async def ask(self, question: Question, limit: float) -> Reply:
        """The reply, within `limit` seconds and a little."""

    async def close(self) -> None:
        """Leave nothing running."""


class Surroundings(Struct, frozen=True, kw_only=True):
    """Where an agent runs."""

    folder: str  # that of the spec
    keeper: Keeper  # ends what a killed run would leave running
    in_process: bool = False  # call Python functions in this process


class AgentKind(ABC):
    """The base of every kind of agent; named like its file and like its key in a spec.

    The first field of `settings` is that key (`url: http://…`), the others are keys that may be
    given beside it. `about` describes them for the JSON schema.
    """

    name: ClassVar[str]
    settings: ClassVar[type[Struct]]
    about: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def check(cls, key: str, value: Any, place: Place, problems: Problems) -> Any:
        """The value of a setting, which has the right type; add what else is wrong with it."""
        return value

    @classmethod
    @abstractmethod
    def create(cls, settings: Any, surroundings: Surroundings) -> Agent:
        """The agent with these settings, not started yet."""

    @classmethod
    def secret_variables(cls, settings: Any) -> Sequence[str]:
        """The environment variables whose values must not be stored."""
        return ()


def timed_out(limit: float, more: str = "") -> Failure:
    """The failure of an agent that took too long."""
    return Failure(message=f"no answer after {limit:g} s{more}", status=TraceStatus.TIMEOUT)


def tail(text: str) -> str:
    """The end of what was printed, as much as is kept."""
    return text if len(text) <= LARGEST_NOTE else f"… {text[-LARGEST_NOTE:]}"


def megabytes(size: int) -> str:
    """A size that a person reads."""
    return f"{size / 1_000_000:,.0f} MB"
