"""Errors by which a host says that it declined the content, whatever it calls that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["CONTENT_FILTER", "declines"]

CONTENT_FILTER = "content_filter"
"""The code that an error about declined content is given, whatever its own is."""

_CODES = frozenset(
    {
        "contentfilter",
        "contentmoderation",
        "contentpolicyviolation",
        "contentpolicyviolationerror",
        "datainspectionfailed",
        "guardrailintervened",
        "moderationblocked",
        "responsibleaipolicyviolation",
        "safetyblocked",
    }
)
"""Codes and types, without case and marks. Azure's `content_filter` and inner code (stanford-crfm/helm issue 3327),
MiMo's type (XiaomiMiMo/MiMo-V2-Flash issue 18), OpenRouter's and OpenAI's `content_policy_violation`, Qwen's
`data_inspection_failed` (QwenLM/qwen-code issue 3145), Bedrock's `guardrail_intervened`; 2026-11."""
_WORDS = re.compile(
    r"content exists risk"
    r"|(?:input|output|prompt|response)\b.{0,20}\bblocked by (?:the )?content[ -]filter"
    r"|\b(?:prompt|content|input|text|output|response)\b.{0,80}\bviolat\w+ .{0,60}(?:polic(?:y|ies)|guidelines|practices)"
    r"|(?:prompt|input)\b.{0,30}\bflagged\b"
    r"|\bflagged (?:by|as|for)\b.{0,60}\b(?:moderation|policy|safety|unsafe|harmful)"
    r"|triggering .{0,40}content management policy"
    r"|datainspectionfailed"
    r"|guardrails? (?:policy|intervened|triggered|blocked)|violated guardrail",
    re.IGNORECASE,
)
"""What hosts say whose code is that of any bad request: DeepSeek (deepseek-ai/awesome-deepseek-integration issue 13),
Anthropic (anthropics/claude-code issue 58367), xAI (UKGovernmentBEIS/inspect_ai pull request 2267), OpenAI's
`invalid_prompt` (BeehiveInnovations/pal-mcp-server issue 178), Azure, Qwen and LiteLLM; 2026-11."""


def declines(body: object, message: str, code: str | None) -> bool:
    """Return whether an error is about what was asked or written, not about how.

    Args:
        body: The error's body, as JSON where it is JSON.
        message: Its message; empty where that may repeat the user's own words.
        code: Its code or type.
    """
    return (
        _folded(code) in _CODES or any(_marked(part) for part in _parts(body)) or bool(_WORDS.search(message))
    )


def _parts(body: object, depth: int = 4) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in which hosts put what kind of error it is."""
    if isinstance(body, list):
        body = body[0] if body else None
    if not isinstance(body, Mapping) or not depth:
        return
    yield body
    for name in ("error", "innererror", "inner_error", "metadata", "detail"):
        yield from _parts(body.get(name), depth - 1)


def _marked(part: Mapping[str, Any]) -> bool:
    if any(_folded(part.get(name)) in _CODES for name in ("code", "type", "error_type", "reason")):
        return True
    # OpenRouter's moderation (https://openrouter.ai/docs/api/reference/errors-and-debugging; 2026-11)
    return "flagged_input" in part and bool(part.get("reasons"))


def _folded(code: object) -> str:
    return re.sub(r"[^a-z]", "", code.lower()) if isinstance(code, str) else ""
