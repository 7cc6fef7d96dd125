"""One file per hosted API; nothing here is imported until it is named."""

from __future__ import annotations

import difflib
import re
from importlib import import_module
from typing import Any

from yesno.errors import ConfigError
from yesno.providers.base import Provider

__all__ = ["PROVIDERS", "load_provider"]

PROVIDERS: dict[str, str] = {
    "anthropic": "yesno.providers.anthropic:AnthropicMessages",
    "azure": "yesno.providers.azure:Azure",
    "cohere": "yesno.providers.cohere:Cohere",
    "deepseek": "yesno.providers.deepseek:DeepSeek",
    "fake": "yesno.providers.fake:FakeProvider",
    "fireworks": "yesno.providers.fireworks:Fireworks",
    "gemini": "yesno.providers.gemini:Gemini",
    "gemini-compat": "yesno.providers.gemini_compat:GeminiCompat",
    "groq": "yesno.providers.groq:Groq",
    "llamacpp": "yesno.providers.llamacpp:LlamaCpp",
    "lmstudio": "yesno.providers.lmstudio:LMStudio",
    "local": "yesno.providers.local:LocalProvider",
    "mistral": "yesno.providers.mistral:Mistral",
    "ollama": "yesno.providers.ollama:Ollama",
    "openai": "yesno.providers.openai_chat:OpenAIChat",
    "openai-compatible": "yesno.providers.openai_compatible:OpenAICompatible",
    "openai-decisions": "yesno.providers.openai_decisions:OpenAIDecisions",
    "openai-responses": "yesno.providers.openai_responses:OpenAIResponses",
    "openrouter": "yesno.providers.openrouter:OpenRouter",
    "sglang": "yesno.providers.sglang:SGLang",
    "systemone": "yesno.providers.systemone:SystemOne",
    "together": "yesno.providers.together:Together",
    "vllm": "yesno.providers.vllm:VLLM",
    "xai": "yesno.providers.xai:XAI",
}
"""Name -> `module:class`. A provider is one file, one line here and one contract test."""


def load_provider(spec: str, **options: Any) -> Provider:
    """Make the provider that a spec `name:model` names.

    Args:
        spec: Such as `openai:gpt-5.4-mini`, `local` or `openai-compatible:qwen3`.
        options: Passed on to the provider; None means not given.

    Raises:
        ConfigError: The provider is unknown, or does not take an option.
    """
    name, _, model = spec.partition(":")
    if name not in PROVIDERS:
        raise ConfigError(_unknown(spec, name))
    module, _, attribute = PROVIDERS[name].partition(":")
    kind = getattr(import_module(module), attribute)
    given = {key: value for key, value in options.items() if value is not None}
    if model:
        given["model"] = model
    try:
        provider: Provider = kind(**given)
    except TypeError as error:
        raise ConfigError(_unfit(name, str(error))) from error
    return provider


def _unfit(name: str, said: str) -> str:
    option = re.search(r"unexpected keyword argument '(\w+)'", said)
    if option:
        return f"provider {name!r} takes no `{option[1]}`; leave it out"
    return f"provider {name!r} cannot be set up like this: {said}"


def _unknown(spec: str, name: str) -> str:
    known = ", ".join(sorted(PROVIDERS))
    if ":" not in spec and name.startswith(("gpt-", "o1", "o3", "o4", "chatgpt")):
        return f"{spec!r} names a model without its provider; did you mean 'openai:{spec}'?"
    close = difflib.get_close_matches(name, PROVIDERS, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"there is no provider {name!r}; {hint}known are {known}. A model is named as 'provider:model'"
