"""Ask models of any provider as judges, through pydantic-ai.

Only the request is pydantic-ai's. Its agents would take the first of two verdicts and convert "4"
to 4; the reply is parsed by `reply_parser.py` instead.
"""

from __future__ import annotations

import importlib.util
import os
import re
from typing import TYPE_CHECKING, Any

from trialrun.errors import PluginError
from trialrun.judge.prompt import TOOL, TOOL_DESCRIPTION, TOOL_SCHEMA, make_prompt
from trialrun.judge.providers import PLAIN, WITH_OWN_PROTOCOL
from trialrun.judge.reply_limits import check_reply, unusable_reply_in
from trialrun.judge.reply_parser import JudgeError, Usage, read_arguments, without_thoughts
from trialrun.model.case import JudgeSettings
from trialrun.model.judging import JudgeRequest
from trialrun.model.results import Vote
from trialrun.model.usage import TokenUsage
from trialrun.util.retries import TRANSIENT_STATUSES, seconds
from trialrun.util.texts import excerpt

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

_MOST_TOKENS = 2048
"""Most tokens of a reply, enough for a model that reasons first."""

_NO_KEY = "not-needed"
"""Local servers need no key, but the client does not start without one."""

_NO_TAGS = ("\0<think>", "</think>\0")
"""Tags that no reply contains, to switch off the client's own parsing of thoughts."""

_NORMAL_ENDS = ("stop", "tool_call")


class ModelJudge:
    """One model at one address."""

    def __init__(self, name: str, settings: JudgeSettings) -> None:
        self.name = name
        self.settings = settings
        self.provider = name.partition(":")[0]
        self._model: Model | None = None
        self._client: httpx2.AsyncClient | None = None

    def check(self) -> None:
        """Check that it can be asked. Raises PluginError with what to install or which key to set.

        If package and key are present, nothing is loaded: the clients take seconds to import, and a
        run whose verdicts are all cached does not need them.
        """
        provider = PLAIN.get("openai" if self._speaks_chat() else self.provider)
        needed = ("pydantic_ai", provider.package) if provider is not None else ()
        has_key = self._speaks_chat() or (provider is not None and provider.has_key())
        if not (needed and has_key and all(map(_is_installed, needed))):
            self.open()

    def _speaks_chat(self) -> bool:
        """Whether its address is an OpenAI-compatible endpoint."""
        return self.settings.base_url is not None and self.provider not in WITH_OWN_PROTOCOL

    def address(self) -> str | None:
        """Its address, if not the provider's default: the same name may be another model there.

        Raises PluginError as `check` does, if only the client knows the address.
        """
        if self.settings.base_url is not None:
            return self.settings.base_url
        if self.provider in PLAIN:
            return PLAIN[self.provider].address()
        self.open()
        assert self._model is not None
        return _address(self._model)

    def open(self) -> None:
        """Load and create the client."""
        if self._model is not None:
            return
        try:
            import httpx2
            import pydantic_ai.direct  # noqa: F401  # before the timeout of a call starts
            from pydantic_ai.exceptions import UserError
        except ImportError as error:
            raise PluginError(
                f"the judge {self.name} needs pydantic-ai ({error}): pip install '.[judge]'"
            ) from None
        self._client = httpx2.AsyncClient(
            limits=_limits(self.settings),
            timeout=None,  # the timeout of the call applies
            headers={"accept-encoding": "identity"},  # a small reply may expand to gigabytes
            event_hooks={"response": [check_reply]},
        )
        try:
            model = _make(self.name, self.settings.base_url, self._client)
        except ImportError as error:
            raise PluginError(f"the judge {self.name}: {error}") from None
        except (UserError, ValueError) as error:
            raise PluginError(f"the judge {self.name} cannot be used: {_reason(error)}") from None
        # Thoughts are separated from the reply here: the client drops an unclosed tag and would
        # take a verdict out of the thought.
        model.profile["thinking_tags"] = _NO_TAGS
        self._model = model

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def ask(self, request: JudgeRequest) -> Vote:
        """One call, one vote. Raises JudgeError if there is none."""
        from pydantic_ai.exceptions import ModelAPIError, ModelHTTPError, UnexpectedModelBehavior

        try:
            response = await self._request(request)
        except ModelHTTPError as error:
            raise JudgeError(
                f"the judge answered {error.status_code}: {excerpt(str(error.body or ''), 200)}",
                transient=error.status_code in TRANSIENT_STATUSES,
                retry_after=_retry_after(error.headers),
            ) from None
        except Exception as error:
            # A client may raise anything for bytes that it does not expect.
            unusable = unusable_reply_in(error)
            if unusable is not None:  # wrapped by the client
                raise JudgeError(str(unusable), transient=True, used=Usage()) from None
            no_reply = isinstance(error, (ModelAPIError, UnexpectedModelBehavior))
            what = "the judge gave no reply" if no_reply else "the reply cannot be read"
            message = f"{what}: {_first_line(error)}"
            raise JudgeError(message, transient=True, used=Usage()) from None
        used = _used(self.name, response)
        try:
            asked_for_text = self.settings.output == "json"
            arguments = _text(response) if asked_for_text else _arguments(response)
            score, rationale = read_arguments(arguments)
        except JudgeError as error:
            error.used = used
            raise
        return Vote(
            model=self.name,
            score=score,
            rationale=rationale,
            total_tokens=used.tokens,
            cost_usd=used.cost_usd,
        )

    async def _request(self, request: JudgeRequest) -> ModelResponse:
        from pydantic_ai.direct import model_request
        from pydantic_ai.messages import ModelRequest, UserPromptPart
        from pydantic_ai.settings import ModelSettings

        assert self._model is not None
        prompt = make_prompt(request, as_json=self.settings.output == "json")
        return await model_request(
            self._model,
            [ModelRequest([UserPromptPart(prompt.data)], instructions=prompt.instructions)],
            model_settings=ModelSettings(
                temperature=self.settings.temperature, max_tokens=_MOST_TOKENS
            ),
            model_request_parameters=self._parameters(),
        )

    def _parameters(self) -> ModelRequestParameters:
        """Ask for one tool call, or for JSON by a schema: some local servers support only that."""
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.output import OutputObjectDefinition
        from pydantic_ai.tools import ToolDefinition

        if self.settings.output == "json":
            return ModelRequestParameters(
                output_mode="native",
                output_object=OutputObjectDefinition(json_schema=TOOL_SCHEMA, name="verdict"),
            )
        tool = ToolDefinition(
            name=TOOL, description=TOOL_DESCRIPTION, parameters_json_schema=TOOL_SCHEMA
        )
        return ModelRequestParameters(
            output_mode="tool", output_tools=[tool], allow_text_output=False
        )


def _is_installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # the parent package is missing
        return False


def _limits(settings: JudgeSettings) -> httpx2.Limits:
    import httpx2

    most = settings.max_concurrency
    return httpx2.Limits(max_connections=most, max_keepalive_connections=most)


def _make(name: str, base_url: str | None, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider_class

    provider_name, separator, model_name = name.partition(":")
    if base_url is not None and provider_name not in WITH_OWN_PROTOCOL:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        key = os.environ.get("OPENAI_API_KEY") or _NO_KEY
        provider = OpenAIProvider(base_url=base_url, api_key=key, http_client=client)
        _without_retries(provider)
        # The tag of a local model (`llama3.2:3b`) is part of its name.
        own = separator and provider_name in ("openai", "openai-chat", "openai-responses")
        return OpenAIChatModel(model_name if own else name, provider=provider)

    def made(provider_name: str) -> Any:
        kind: Any = infer_provider_class(provider_name)
        given: dict[str, Any] = {"http_client": client}
        if base_url is not None:
            given["base_url"] = base_url
        try:
            provider = kind(**given)
        except TypeError:  # a provider with its own client
            provider = kind()
        _without_retries(provider)
        return provider

    return infer_model(name, made)


def _without_retries(provider: Any) -> None:
    """Switch off the client's own retries, which would multiply with ours."""
    client: Any = getattr(provider, "client", None)
    if hasattr(client, "max_retries"):
        client.max_retries = 0


def _address(model: Model) -> str | None:
    """The address that a client will use, with the protocol version in its query (Azure)."""
    client: Any = getattr(model, "client", None)
    query = getattr(client, "default_query", None)
    at = model.base_url
    return f"{at} {sorted(query.items())}" if at and query else at


def _arguments(response: ModelResponse) -> Any:
    """The arguments of the only tool call."""
    from pydantic_ai.messages import TextPart, ToolCallPart

    _require_complete(response)
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    if len(calls) == 1 and calls[0].tool_name == TOOL:
        return calls[0].args
    if len(calls) > 1:
        raise JudgeError(f"the judge gave {len(calls)} verdicts at once", transient=True)
    if calls:
        raise JudgeError(f"the judge called {calls[0].tool_name}, not {TOOL}", transient=True)
    said = " ".join(part.content for part in response.parts if isinstance(part, TextPart))
    what = f"it said {excerpt(said, 200)}" if said.strip() else "the reply is empty"
    raise JudgeError(f"the judge gave no verdict: {what}", transient=True)


def _require_complete(response: ModelResponse) -> None:
    """Reject a reply that was cut, filtered or broken off, whatever it contains.

    A missing finish reason is accepted, since some local servers send none; an unknown one is not.
    """
    if response.finish_reason == "content_filter":
        raise JudgeError("the judge's reply was blocked by a content filter", transient=True)
    if response.finish_reason == "length":
        raise JudgeError("the judge's reply was cut at the token limit", transient=True)
    raw_reason = (response.provider_details or {}).get("finish_reason")
    reason = response.finish_reason or raw_reason
    if reason is not None and response.finish_reason not in _NORMAL_ENDS:
        shown = excerpt(str(raw_reason or reason), 40)
        raise JudgeError(f"the judge's reply ended unexpectedly: {shown}", transient=True)


def _text(response: ModelResponse) -> str:
    """The reply if it is only the verdict, apart from a thought before it."""
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    _require_complete(response)
    parts = list(response.parts)
    while parts and isinstance(parts[0], ThinkingPart):
        del parts[0]
    if any(isinstance(part, ToolCallPart) for part in parts):
        raise JudgeError("the judge called a tool, expected JSON", transient=True)
    texts = [part.content for part in parts if isinstance(part, TextPart)]
    if len(texts) != len(parts):
        raise JudgeError("the judge said more than its verdict", transient=True)
    said = without_thoughts("".join(texts))
    if not said.strip():
        raise JudgeError("the judge gave no verdict: the reply is empty", transient=True)
    return said


def _usage(response: ModelResponse) -> TokenUsage | None:
    """The tokens in groups that do not overlap; pydantic-ai counts cached ones as input too."""
    used = response.usage
    if not used.input_tokens and not used.output_tokens:
        return None
    cached = used.cache_read_tokens + used.cache_write_tokens
    fresh = max(used.input_tokens - cached, 0)
    return TokenUsage(
        prompt_tokens=fresh,
        completion_tokens=used.output_tokens,
        total_tokens=fresh + used.output_tokens + cached,
        cached_tokens=used.cache_read_tokens,
        cache_write_tokens=used.cache_write_tokens,
    )


def _used(name: str, response: ModelResponse) -> Usage:
    from trialrun.model.trace import Step
    from trialrun.pricing import step_cost

    tokens = _usage(response)
    if tokens is None:
        return Usage()
    step = Step.llm_call(model=name, tokens=tokens, timestamp=response.timestamp)
    return Usage(tokens.total_tokens, step_cost(step))


def _retry_after(headers: dict[str, str] | None) -> float | None:
    return seconds(headers.get("retry-after")) if headers else None


def _first_line(error: BaseException) -> str:
    said = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {said[:300]}" if said else type(error).__name__


# "Set the `OPENAI_API_KEY` environment variable or pass it via `OpenAIProvider(api_key=…)`"
_MISSING_KEY = re.compile(r"Set the `(\w+)` environment variable")


def _reason(error: Exception) -> str:
    """Why a model cannot be made, without the library's advice for those who call it in code."""
    key = _MISSING_KEY.match(str(error))
    return str(error) if key is None else f"the environment variable {key[1]} is not set"
