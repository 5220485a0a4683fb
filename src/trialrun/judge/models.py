"""Models as judges, through pydantic-ai: every provider by its model string, one way of asking.

Only the request is pydantic-ai's. Its agents would take the first of two verdicts, and turn "4"
into 4: the reply is read by `reading.py`, as it came.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from trialrun import strict_json
from trialrun.errors import PluginError
from trialrun.judge.prompt import TOOL, TOOL_DESCRIPTION, TOOL_SCHEMA, make_prompt
from trialrun.judge.reading import JudgeError, Used, read_arguments
from trialrun.judge.rubrics import JudgeRequest
from trialrun.measures.texts import excerpt
from trialrun.results import Vote
from trialrun.retries import TRANSIENT_STATUSES, seconds
from trialrun.steps import TokenUsage
from trialrun.test_case import JudgeSettings

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model, ModelRequestParameters

_LARGEST_REPLY = 4 * 1024 * 1024
"""Bytes. A verdict has some hundreds; a reply of megabytes is a fault, and would cost memory."""

_MOST_TOKENS = 2048
"""Of a reply: room for a model that thinks aloud first."""

_WITH_OWN_ADDRESS = ("anthropic", "google")
"""Providers that speak their own protocol at a `base_url` too; all others chat completions."""

_PLAIN = {
    "openai": ("openai", ("OPENAI_API_KEY",)),
    "openai-chat": ("openai", ("OPENAI_API_KEY",)),
    "openai-responses": ("openai", ("OPENAI_API_KEY",)),
    "anthropic": ("anthropic", ("ANTHROPIC_API_KEY",)),
    "google": ("google.genai", ("GOOGLE_API_KEY", "GEMINI_API_KEY")),
}
"""The package and the key that a provider needs, where there is no more to it."""

_NO_KEY = "not-needed"
"""Local servers ask for no key, and the client does not start without one."""


class ModelJudge:
    """One model at one address."""

    def __init__(self, name: str, settings: JudgeSettings) -> None:
        self.name = name
        self.settings = settings
        self._model: Model | None = None
        self._client: httpx2.AsyncClient | None = None

    def check(self) -> None:
        """Find out whether it can be asked. PluginError says what to install, or which key to set.

        Where a package and a key are plainly there, without loading anything: the clients take
        seconds to import, and a run whose verdicts are all kept does not need them.
        """
        provider = "openai" if self._speaks_chat() else self.name.partition(":")[0]
        package, keys = _PLAIN.get(provider, ("", ()))
        has_key = self._speaks_chat() or any(os.environ.get(key) for key in keys)
        if not (package and has_key and _is_installed("pydantic_ai") and _is_installed(package)):
            self._open()

    def _speaks_chat(self) -> bool:
        """Whether it is an OpenAI-compatible endpoint by its address."""
        own = self.name.partition(":")[0] in _WITH_OWN_ADDRESS
        return self.settings.base_url is not None and not own

    def _open(self) -> None:
        """Make the client ready."""
        try:
            import httpx2
            from pydantic_ai.exceptions import UserError
        except ImportError as error:
            raise PluginError(
                f"the judge {self.name} needs pydantic-ai ({error}): pip install 'trialrun[judge]'"
            ) from None
        self._client = httpx2.AsyncClient(
            limits=_limits(self.settings),
            timeout=None,  # the limit of the call is the one that counts
            headers={"accept-encoding": "identity"},  # a small reply may unfold to gigabytes
            event_hooks={"response": [_inspect]},
        )
        try:
            self._model = _make(self.name, self.settings.base_url, self._client)
        except ImportError as error:
            raise PluginError(f"the judge {self.name}: {error}") from None
        except (UserError, ValueError) as error:
            raise PluginError(f"the judge {self.name} cannot be used: {error}") from None

    async def close(self) -> None:
        """Let go of the connections."""
        if self._client is not None:
            await self._client.aclose()

    async def ask(self, request: JudgeRequest) -> Vote:
        """One call, one verdict. JudgeError where there is none; PluginError where none can be."""
        if self._model is None:
            self._open()
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
            # A client that meets bytes which it does not expect may raise anything at all.
            ours = _cause(error)
            if ours is not None:  # the client has wrapped it
                raise JudgeError(str(ours), transient=True, used=Used()) from None
            no_reply = isinstance(error, (ModelAPIError, UnexpectedModelBehavior))
            what = "the judge gave no reply" if no_reply else "the reply cannot be read"
            message = f"{what}: {_first_line(error)}"
            raise JudgeError(message, transient=True, used=Used()) from None
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
        """A call of one tool, or JSON by a schema: some local servers can do only that."""
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
    except (ImportError, ValueError):  # a parent that is not there, or was taken out
        return False


def _limits(settings: JudgeSettings) -> httpx2.Limits:
    import httpx2

    most = settings.max_concurrency
    return httpx2.Limits(max_connections=most, max_keepalive_connections=most)


def _make(name: str, base_url: str | None, client: httpx2.AsyncClient) -> Model:
    from pydantic_ai.models import infer_model
    from pydantic_ai.providers import infer_provider_class

    provider_name, separator, model_name = name.partition(":")
    if base_url is not None and provider_name not in _WITH_OWN_ADDRESS:
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
        except TypeError:  # one that brings a client of its own
            provider = kind()
        _without_retries(provider)
        return provider

    return infer_model(name, made)


def _without_retries(provider: Any) -> None:
    """How often is asked again is ours to say: the clients' own retries would multiply with it."""
    client: Any = getattr(provider, "client", None)
    if hasattr(client, "max_retries"):
        client.max_retries = 0


def _arguments(response: ModelResponse) -> Any:
    """What the one call of the tool was given."""
    from pydantic_ai.messages import TextPart, ToolCallPart

    _require_whole(response)
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


def _require_whole(response: ModelResponse) -> None:
    """What was cut or held back is no verdict, whatever stands in it."""
    if response.finish_reason == "content_filter":
        raise JudgeError("the judge's reply was held back by a filter", transient=True)
    if response.finish_reason == "length":
        raise JudgeError("the judge's reply was cut at its longest", transient=True)


def _text(response: ModelResponse) -> str:
    """The reply, where it is to be the verdict itself and nothing else."""
    from pydantic_ai.messages import TextPart, ToolCallPart

    _require_whole(response)
    said = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    if any(isinstance(part, ToolCallPart) for part in response.parts):
        raise JudgeError("the judge called a tool, expected JSON", transient=True)
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


def _used(name: str, response: ModelResponse) -> Used:
    from trialrun.pricing import step_cost
    from trialrun.trace import Step

    tokens = _usage(response)
    if tokens is None:
        return Used()
    step = Step.llm_call(model=name, tokens=tokens, timestamp=response.timestamp)
    return Used(tokens.total_tokens, step_cost(step))


def _retry_after(headers: dict[str, str] | None) -> float | None:
    return seconds(headers.get("retry-after")) if headers else None


def _first_line(error: BaseException) -> str:
    said = str(error).strip().partition("\n")[0]
    return f"{type(error).__name__}: {said[:300]}" if said else type(error).__name__


class _Unusable(Exception):
    """A reply that no client should see."""


def _cause(error: BaseException | None) -> _Unusable | None:
    while error is not None and not isinstance(error, _Unusable):
        error = error.__cause__ or error.__context__
    return error


async def _inspect(response: httpx2.Response) -> None:
    """Read every reply ourselves first: within limits, and as JSON that has one meaning only.

    A client takes the last of two scores without a word.
    """
    if response.headers.get("content-encoding", "identity") != "identity":
        raise _Unusable("the reply is compressed, which was not asked for")
    response.stream = _bounded(response.stream)
    content = await response.aread()
    try:
        _require_one_reply(strict_json.decode(content))
    except strict_json.NotStrict as error:
        raise _Unusable(f"the reply cannot be trusted: {error}") from None
    except (ValueError, RecursionError):
        return  # no JSON at all: the client says so


def _require_one_reply(body: Any) -> None:
    """A server may send several replies in one: a client would take the first."""
    choices = body.get("choices") if isinstance(body, dict) else None
    if not isinstance(choices, list):
        return
    if len(choices) > 1:
        raise _Unusable(f"the judge gave {len(choices)} replies at once")
    message = choices[0].get("message") if choices and isinstance(choices[0], dict) else None
    if isinstance(message, dict) and message.get("function_call") and message.get("tool_calls"):
        raise _Unusable("the judge gave two verdicts at once")


def _bounded(stream: Any) -> Any:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            received = 0
            async for chunk in stream:
                received += len(chunk)
                if received > _LARGEST_REPLY:
                    raise _Unusable(f"the reply has more than {_LARGEST_REPLY >> 20} MB")
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
