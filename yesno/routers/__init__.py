"""Choose where something goes: chat models, sources of documents, agents.

Routers are flows that never import the engine: a `DecisionModel` or an `AsyncDecisionModel` runs them.
"""

from yesno.routers.agent import Agent, AgentRouter
from yesno.routers.agent_state import AgentState
from yesno.routers.base import Router
from yesno.routers.cascade import Cascade, CascadeReply, Step
from yesno.routers.chat import ChatRouter
from yesno.routers.cost import CostRouter
from yesno.routers.model import AsyncRoutingChatModel, RoutingChatModel
from yesno.routers.query import QueryRoute, QueryRouter
from yesno.routers.replies import RoutedResponse
from yesno.routers.routes import DEFAULT_ROUTE, Route, RouteChoice
from yesno.routers.streams import AsyncRoutedStream, RoutedStream
from yesno.routers.switch import RouteRequest, current_route
from yesno.routers.targets import anthropic_messages, openai_chat, openai_responses

__all__ = [
    "DEFAULT_ROUTE",
    "ROUTERS",
    "Agent",
    "AgentRouter",
    "AgentState",
    "AsyncRoutedStream",
    "AsyncRoutingChatModel",
    "Cascade",
    "CascadeReply",
    "ChatRouter",
    "CostRouter",
    "QueryRoute",
    "QueryRouter",
    "Route",
    "RouteChoice",
    "RouteRequest",
    "RoutedResponse",
    "RoutedStream",
    "Router",
    "RoutingChatModel",
    "Step",
    "anthropic_messages",
    "current_route",
    "openai_chat",
    "openai_responses",
]

ROUTERS: dict[str, type[Router]] = {
    "agent": AgentRouter,
    "cascade": Cascade,
    "chat": ChatRouter,
    "cost": CostRouter,
    "query": QueryRouter,
}
"""Name -> class. A router is one file, one line here and one contract test."""
