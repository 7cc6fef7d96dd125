"""What the configuration file of `yesno serve` may hold; the file `config.py` reads it."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from yesno.prices import Price

__all__ = [
    "ChatTable",
    "File",
    "KeyTable",
    "LimitsTable",
    "ModelTable",
    "PriceTable",
    "RouteTable",
    "ServerTable",
    "ToolFilterTable",
]

Share: TypeAlias = Annotated[float, Field(ge=0, le=1)]
Amount: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Count: TypeAlias = Annotated[int, Field(ge=1)]
Text: TypeAlias = Annotated[str, Field(min_length=1, pattern=r"\S")]
Name: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$")]
"""Fit for a header and for a URL."""
Variable: TypeAlias = Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]*$")]
"""The name of an environment variable; in capitals, so that a key is none."""
Header: TypeAlias = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]+$")]
Address: TypeAlias = Annotated[str, Field(pattern=r"^https?://[^\s/?#@]+(/[^\s?#]*)?$")]


class Table(BaseModel):
    """A table in which every key is known."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class ServerTable(Table):
    """`[server]`: where it listens and what it takes."""

    host: Text = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8000
    keys_file: Text | None = None
    """Made by `yesno keys add`; relative to this file. Needed where `host` is not of this machine alone."""
    cors_origins: list[Text] = []
    """Web pages that may call from a browser; none by default."""
    max_body_bytes: Count = 8 * 2**20
    max_questions: Count = 400
    timeout_s: Seconds = 60.0
    """For a body to arrive, and for a decision by a model that sets no other time."""
    max_concurrency: Count | None = None
    """Most requests under way at once; more are told to come back."""
    drain_delay_s: Annotated[float, Field(ge=0, le=300)] = 1.0
    """After SIGTERM it says at `/readyz` that it leaves, and still takes requests for so long."""
    drain_timeout_s: Seconds = 30.0
    """Then requests under way have so long to end."""
    access_log: bool = True


class LimitsTable(Table):
    """`[limits]`: what each key may use; without keys, all callers together."""

    requests_per_minute: Amount | None = None
    burst: Count | None = None
    """Requests that may come at once; by default as many as in ten seconds."""
    concurrency: Count | None = None
    """Most requests of one key under way at once."""
    budget_usd: Amount | None = None
    budget_requests: Annotated[int, Field(ge=0)] | None = None
    budget_tokens: Annotated[int, Field(ge=0)] | None = None
    """Requests to models and their tokens, as `Budget` counts them."""
    budget_period: Literal["day", "month", "total"] = "day"
    """Days and months are of UTC. What is spent is kept in memory: a restart begins anew, a reload does not."""


class KeyTable(LimitsTable):
    """`[keys.NAME]`: limits of one key in place of `[limits]`, and the models it may use."""

    models: list[Name] | None = None
    """Names of `[models]` and the name of `[chat]`; by default all."""


class PriceTable(Table):
    """Dollars per million tokens."""

    input: Amount
    output: Amount
    cached_input: Amount | None = None

    def price(self) -> Price:
        """Return it as a `Price`."""
        return Price(self.input, self.output, self.cached_input, source="configuration file")


class ModelTable(Table):
    """`[models.ALIAS]`: a model that answers decisions under a name of yours."""

    model: Text
    """`provider:model`."""
    base_url: Address | None = None
    api_key_env: Variable | None = None
    """By default the provider's own variable."""
    template: Text | None = None
    """A set's name, or a folder relative to this file."""
    calibration: Text | None = None
    """A card, or a folder of cards, relative to this file; see `yesno calibrate`."""
    strategy: Literal["auto", "native", "logprobs", "sampled"] = "auto"
    strict: bool = False
    orders: Annotated[int, Field(ge=1)] | Literal["auto"] = 1
    prior: Literal["auto", "content_free", "off"] = "auto"
    packing: Literal["separate", "packed", "auto"] = "separate"
    min_label_mass: Share = 0.5
    timeout_s: Seconds | None = None
    concurrency: Count | None = None
    price: PriceTable | None = None


class RouteTable(Table):
    """`[chat.routes.NAME]`: a model that answers conversations."""

    base_url: Address
    """Up to what `/chat/completions` follows, such as `https://api.openai.com/v1`."""
    model: Text
    """The model's name there."""
    api_key_env: Variable | None = None
    """The environment variable with the key; none is sent without it."""
    description: Text | list[Text] | None = None
    """What it is good for, for the deciding model."""
    capabilities: list[Literal["json_schema"]] = []
    """Requests for JSON of a schema go only to routes that name it, when one does."""
    forward_headers: list[Header] = []
    """Headers of the caller to pass on, besides the usual ones; never a key."""
    price: PriceTable | None = None
    max_output_tokens: Count = 4096
    """What a budget reserves for an answer whose request names no limit."""
    connect_timeout_s: Seconds = 10.0
    timeout_s: Seconds = 600.0
    """The longest wait for the first byte of an answer, and for each after it."""


class ToolFilterTable(Table):
    """`[chat.tool_filter]`: send on only the tools that help; see `ToolFilter`."""

    min_probability: Share = 0.5
    max_results: Count | None = None
    always_include: list[Text] = []
    shortlist: Count | None = None
    fallback: Literal["all_tools", "no_tools", "fail"] = "all_tools"


class ChatTable(Table):
    """`[chat]`: `/v1/chat/completions`, routed to one of its routes."""

    name: Name = "auto"
    """The model's name that has a request routed; a route's own name goes straight there."""
    decide_with: Name
    """The name in `[models]` that chooses."""
    default: Name
    routes: Annotated[dict[Name, RouteTable], Field(min_length=1)]
    min_probability: Share | None = None
    question: Text | None = None
    fallback: Literal["default_route", "fail"] = "default_route"
    """What happens when the decision fails, or takes too long."""
    timeout_s: Seconds | None = None
    """For the decisions about one request; by default what the deciding model has."""
    tool_filter: ToolFilterTable | None = None


class File(Table):
    """The whole file."""

    server: ServerTable = ServerTable()
    limits: LimitsTable = LimitsTable()
    keys: dict[Text, KeyTable] = {}
    models: Annotated[dict[Name, ModelTable], Field(min_length=1)]
    chat: ChatTable | None = None
