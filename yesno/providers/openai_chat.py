"""OpenAI's Chat Completions."""

from __future__ import annotations

from typing import ClassVar

from yesno.providers._openai_account import OpenAIAccount
from yesno.providers._openai_chat_sdk import ChatSDK

__all__ = ["OpenAIChat"]


class OpenAIChat(OpenAIAccount, ChatSDK):
    """OpenAI's hosted models that return log-probabilities, such as `gpt-5.4-mini`."""

    name: ClassVar[str] = "openai"
