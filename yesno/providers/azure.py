"""OpenAI's models on Azure."""

from __future__ import annotations

from typing import ClassVar
from urllib.parse import urlsplit

from yesno.errors import ConfigError
from yesno.providers._host import Host
from yesno.settings import Settings

__all__ = ["Azure"]

ENDPOINT = "AZURE_OPENAI_ENDPOINT"
ROUTE = "/openai/v1"
"""Azure's route without dated API versions (learn.microsoft.com, api-version-lifecycle; 2026-11)."""


class Azure(Host):
    """A resource of yours on Azure; the model is the name of a deployment.

    The address is `base_url` or `AZURE_OPENAI_ENDPOINT`, such as `https://NAME.openai.azure.com`, to which
    `/openai/v1` is added. Routes with a dated `api-version` are not spoken. A deployment that is called as its
    model gets that model's profile.
    """

    name: ClassVar[str] = "azure"
    title: ClassVar[str] = "Azure OpenAI"
    key_variable: ClassVar[str] = "AZURE_OPENAI_API_KEY"
    example: ClassVar[str] = "gpt-5.4-mini"

    def _address(self, base_url: str | None, settings: Settings) -> str:
        address = (base_url or settings.addresses.get(ENDPOINT, "")).rstrip("/")
        if not address:
            raise ConfigError(
                f"Azure OpenAI needs the address of your resource; pass base_url= or set {ENDPOINT}"
            )
        return address if urlsplit(address).path else address + ROUTE
