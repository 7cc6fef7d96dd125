"""Plugs for other frameworks: thin adapters that run yesno's questions, filters and guardrails in their terms.

Each framework is one file, imported by its own name, and needs its own extra; importing this package loads none.
"""

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["INTEGRATIONS", "Integration"]


@dataclass(frozen=True, slots=True)
class Integration:
    """What a file of this room plugs into."""

    package: str
    """The module that must be importable."""
    extra: str
    """The extra of yesno that installs it."""


INTEGRATIONS: Mapping[str, Integration] = {
    "langchain": Integration("langchain_core", "langchain"),
    "langchain_agents": Integration("langchain", "langchain-agents"),
    "mcp": Integration("mcp", "mcp"),
    "openai_agents": Integration("agents", "openai-agents"),
    "pydantic_ai": Integration("pydantic_ai", "pydantic-ai"),
}
"""File -> what it needs. An integration is one file, one line here, its extra in `pyproject.toml` and a contract test."""
