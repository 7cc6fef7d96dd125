"""Facts about models and hosts, as data.

A row is a default for a probe, not a truth: a reply that says otherwise wins and is remembered
for the life of the provider object.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from yesno._frozen import FrozenDict
from yesno.reading.packed import PackingCost
from yesno.reading.priors import ModelPrior

__all__ = ["PROFILES", "SYSTEM_ONE_HOSTS", "Profile", "Strategy", "SystemOneHost", "profile_for"]

Strategy: TypeAlias = Literal["native", "logprobs", "sampled"]


@dataclass(frozen=True, slots=True)
class Profile:
    """What a model on a host accepts and returns."""

    strategies: tuple[Strategy, ...] = ("logprobs", "sampled")
    """Ways to get a probability, best first."""
    top_logprobs: int = 20
    """Alternatives per position to ask for (at most 20 on most hosts; openai 3.57.0, chat parameters; 2026-11)."""
    exact_labels: int = 0
    """Tokens of the caller's choice whose log-probabilities one request may ask for; 0 where none."""
    temperature: float = 1.0
    """Hosts differ in whether they scale log-probabilities by it (standardcompletions/rfcs issue 11; 2026-11);
    1 leaves them as they are everywhere, 0 is for hosts known to report them unscaled. At 1 the reply is a sample:
    the probabilities at a place do not depend on it, but where the answer is looked for does, so a model that
    seldom begins with a label may be undecided in one run and read in the next."""
    cap_name: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    min_tokens: int = 1
    """Smallest output cap the host accepts."""
    most_tokens: int | None = None
    """Largest output cap the host accepts; None when none is known."""
    refuses: frozenset[str] = frozenset()
    """Request fields that are left out."""
    count_name: Literal["top_logprobs", "logprobs"] = "top_logprobs"
    """The field for the number of alternatives; `logprobs` where it takes the place of the switch."""
    extra: Mapping[str, Any] = FrozenDict()
    """Request fields of this host's own that are always sent."""
    effort: str | None = None
    """`reasoning_effort` without which the model hides log-probabilities."""
    template: str = "default"
    """The template set that measured best."""
    concurrency: int = 32
    """Requests worth having under way at once."""
    timeout_s: float | None = 60.0
    """Seconds that a decision may take unless the caller says otherwise; None for no limit."""
    structured: Literal["json_schema", "json_object", "tool", "none"] = "json_schema"
    """How the host is made to reply in JSON."""
    prefill: bool = False
    """A last assistant turn is continued."""
    prior: ModelPrior | None = None
    """The model's favourites among labels, where they were measured."""
    packing: tuple[PackingCost, ...] = ()
    """What packing costs the model, where it was measured."""
    source: str = ""
    date: str = ""


_OPENAI_SOURCE = "pydantic-ai profiles/openai.py; openai 3.57.0 deprecation notes"


def _openai(**facts: Any) -> Profile:
    return Profile(
        temperature=0.0, cap_name="max_completion_tokens", source=_OPENAI_SOURCE, date="2026-11", **facts
    )


_OPENAI: tuple[tuple[str, Profile], ...] = (
    ("", _openai()),
    ("gpt-4", Profile(temperature=0.0, source=_OPENAI_SOURCE, date="2026-11")),
    ("gpt-5.1", _openai(effort="none")),
    ("gpt-5.2", _openai(effort="none")),
    ("gpt-5.3", _openai(effort="none")),
    ("gpt-5.4", _openai(effort="none")),
    ("gpt-5.5", _openai(effort="none")),
    ("gpt-5.6", _openai(effort="none")),
    ("gpt-6-luna", _openai(effort="none")),
    # always thinks, and takes neither `none` nor `minimal`: BerriAI/litellm-docs pull request 1173
    ("gpt-6-astra", _openai(effort="low")),
)


def _like_openai(source: str, **facts: Any) -> tuple[tuple[str, Profile], ...]:
    return tuple(
        (prefix, replace(row, source=f"{_OPENAI_SOURCE}; {source}", **facts)) for prefix, row in _OPENAI
    )


def _host(source: str, *, prefix: str = "", **facts: Any) -> tuple[tuple[str, Profile], ...]:
    return ((prefix, Profile(source=source, date="2026-11", **facts)),)


_GEMINI_SOURCE = (
    "python-genai types.py: `logprobs` from 1 to 20; which models refuse changes: mscraftsman/generative-ai issue 135, "
    "GoogleCloudPlatform/generative-ai issue 2947, googleapis/python-genai issue 1921; whether temperature scales "
    "log-probabilities is not documented"
)


def _gemini(prefix: str, source: str, **thinking: Any) -> tuple[tuple[str, Profile], ...]:
    """Return the row of models that think as little as they can; what they think counts as output."""
    page = "https://ai.google.dev/gemini-api/docs/generate-content/thinking"
    extra = FrozenDict({"thinkingConfig": thinking})
    return _host(f"{_GEMINI_SOURCE}; {page}; {source}", prefix=prefix, extra=extra)


PROFILES: dict[str, tuple[tuple[str, Profile], ...]] = {
    "anthropic": (
        (
            "",
            Profile(
                strategies=("sampled",),
                source="anthropic 2.14.0: no log-probabilities and no temperature in messages.create",
                date="2026-11",
            ),
        ),
    ),
    "openai": _OPENAI,
    "openai-responses": _like_openai(
        "include and top_logprobs of openai 3.57.0; a cap below 16 is refused, vectorize-io/hindsight issue 58",
        min_tokens=16,
    ),
    # what a deployment is called decides the row; it has to begin with its model's name to get the right one
    "azure": _like_openai(
        "Azure answers as OpenAI does, its tables of models with log-probabilities differ: "
        "BerriAI/litellm issue 18856"
    ),
    "cohere": _host(
        "cohere-python types/logprob_item.py: log-probabilities of the sampled tokens only, no alternatives (2026-11)",
        strategies=("sampled",),
    ),
    "deepseek": _host(
        "https://api-docs.deepseek.com/guides/thinking_mode.md: thinking is on by default and ignores the "
        "temperature; whether temperature scales log-probabilities otherwise, and the most alternatives (20), "
        "are not documented there",
        extra=FrozenDict({"thinking": {"type": "disabled"}}),
    ),
    "fireworks": _host(
        "Portkey-AI/gateway issue 1009: at most 5, unconfirmed; which models have log-probabilities differs",
        top_logprobs=5,
    ),
    "gemini": (
        *_host(_GEMINI_SOURCE),
        *_gemini("gemini-2.5-flash", "Flash and Flash-Lite do not think at a budget of 0", thinkingBudget=0),
        *_gemini("gemini-3", "bolna-ai/bolna pull request 956: all of 3.x take `low`", thinkingLevel="low"),
        *_gemini("gemini-3-flash", "flachesis/gemini-rust issue 61", thinkingLevel="minimal"),
        *_gemini("gemini-3.1-flash-lite", "maximhq/bifrost issue 7287", thinkingLevel="minimal"),
        *_gemini("gemini-3.5-flash", "withceleste/celeste-python pull request 292", thinkingLevel="minimal"),
        *_gemini("gemini-3.6-flash", "Google Cloud's page on thinking", thinkingLevel="minimal"),
    ),
    "gemini-compat": _host(
        "https://ai.google.dev/gemini-api/docs/openai: log-probabilities are not among what it lists",
        strategies=("sampled",),
    ),
    "groq": _host(
        "groq-python, completion_create_params.py: not yet supported by any model (2026-08); a 400 when sent: "
        "groq/groq-python issue 25",
        strategies=("sampled",),
    ),
    "llamacpp": _host(
        "tools/server/README.md of llama.cpp: softmax before the samplers, true bytes; no cap documented",
        temperature=0.0,
    ),
    "lmstudio": _host(
        "lmstudio-ai/lms issue 60: `logprobs` is accepted and none come back (open, 2026-06)",
        strategies=("sampled",),
    ),
    "mistral": _host(
        "mistralai/client-python has no log-probabilities for chat (2026-06)",
        strategies=("sampled",),
    ),
    "ollama": _host(
        "ollama api/types.go: at most 20; the hosted service returns none: ollama/ollama issue 13638",
    ),
    "openrouter": _host(
        "https://openrouter.ai/docs/features/provider-routing.md; hosts that cannot leave log-probabilities out: "
        "SillyTavern/SillyTavern issue 5804; hosts differ in scaling by temperature: standardcompletions/rfcs issue 11",
        extra=FrozenDict({"provider": {"require_parameters": True}}),
    ),
    "sglang": _host(
        "sglang entrypoints/openai: `logprobs` and `top_logprobs` as OpenAI's; -inf and null under grammars: "
        "sgl-project/sglang issue 20323; a very large number can stop the server: issue 40076, unconfirmed; "
        "entrypoints/openai/serving_decisions.py: labels are scored by their own tokens, label_mass is their sum; "
        "serving_score.py has no limit for the candidates, 128 are enough",
        strategies=("native", "logprobs", "sampled"),
        exact_labels=128,
    ),
    "together": _host(
        "togethercomputer/openapi openapi.yaml: `logprobs` is a number from 0 to 20; the arrays of Completions "
        "inside the chat choice: UKGovernmentBEIS/inspect_ai issue 3084",
        count_name="logprobs",
    ),
    "vllm": _host(
        "vllm chat_completion/serving.py: --max-logprobs is 20 by default; raw log-probabilities by default, "
        "clamped at -9999: https://docs.vllm.ai/en/stable/configuration/engine_args/; logprob_token_ids, at most 128: "
        "vllm-project/vllm pull request 43463 and sampling_params.py",
        exact_labels=128,
    ),
    "xai": (
        *_host(
            "xai-sdk chat.py: at most 8; Vertex AI's page on Grok: none from reasoning models", top_logprobs=8
        ),
        *_host(
            "xai-sdk chat.py: at most 8; grok-4.3 takes the effort none (its documentation)",
            prefix="grok-4.3",
            top_logprobs=8,
            effort="none",
        ),
    ),
    "openai-decisions": (
        ("", Profile(strategies=("native",), source="openai 3.57.0, resources/decisions.py", date="2026-11")),
    ),
    "systemone": (("", Profile(strategies=("native",), source="typesafe-sdk 0.7.5", date="2026-11")),),
}
"""Provider -> rows of a model-name prefix and its facts; the longest prefix wins."""


def profile_for(provider: str, model: str) -> Profile:
    """Return the row for a model: the longest matching prefix among the provider's rows."""
    rows = [(prefix, row) for prefix, row in PROFILES.get(provider, ()) if model.startswith(prefix)]
    return max(rows, key=lambda item: len(item[0]))[1] if rows else Profile()


@dataclass(frozen=True, slots=True)
class SystemOneHost:
    """Where a vendor serves System One, and how it differs."""

    base_url: str
    """Address without the route; empty where every user has another one."""
    path: str = "/v1/systemone"
    key: str = ""
    """Variable of the vendor's key; empty where none is known or needed."""
    max_questions: int | None = None
    """Most questions in one request; None where no limit is known."""
    max_options: int = 255
    max_levels: int = 10
    state: str = "state"
    """Name of the field that holds the input."""
    sparse: bool = False
    """The vendor's schema lets it leave distributions out."""
    source: str = ""
    date: str = "2026-11"


SYSTEM_ONE_HOSTS: dict[str, SystemOneHost] = {
    "typesafe": SystemOneHost(
        "https://api.typesafe.ai",
        key="TYPESAFE_API_KEY",
        source="typesafe-sdk 0.7.5; 300 questions were taken",
    ),
    "openrouter": SystemOneHost(
        "https://openrouter.ai/api",
        key="OPENROUTER_API_KEY",
        sparse=True,
        source="openrouter 1.3.84: probabilities, confidence and legend are optional",
    ),
    "perplexity": SystemOneHost(
        "https://api.perplexity.ai",
        path="/v1/decisions",
        key="PERPLEXITY_API_KEY",
        max_questions=128,
        source="limits as published; the address is that of the vendor's other APIs, not tried",
    ),
    "fireworks": SystemOneHost(
        "https://api.fireworks.ai",
        path="/inference/v1/systemone",
        key="FIREWORKS_API_KEY",
        max_options=208,
        source="limits as published; the address is that of the vendor's other APIs, not tried",
    ),
    "upstage": SystemOneHost(
        "https://api.upstage.ai",
        key="UPSTAGE_API_KEY",
        source="beta; the address is that of the vendor's other APIs, not tried",
    ),
    "ollama": SystemOneHost(
        "http://127.0.0.1:11434",
        max_options=26,
        max_levels=26,
        source="Ollama's documentation, 0.35.0",
    ),
    "sglang": SystemOneHost(
        "http://127.0.0.1:30000", source="SGLang's decision_models.mdx; reports x_label_mass"
    ),
    "azure": SystemOneHost(
        "", path="/providers/microsoft/v1/systemone", source="route as published, not tried"
    ),
    "databricks": SystemOneHost(
        "", path="/ai-gateway/typesafe/v1/systemone", source="two client repositories; not verified"
    ),
    "gemini": SystemOneHost(
        "",
        path="",
        max_questions=1000,
        max_levels=255,
        state="input",
        source="body and limits as published; the route is not known",
    ),
}
"""Dialect -> host. llama.cpp, LiteLLM and others without a row take `typesafe` with a `base_url`."""
