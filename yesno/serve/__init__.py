"""A server that speaks OpenAI's Decisions and TypeSafe's System One for any model (extra `serve`).

`create_app` returns an ASGI application; `yesno serve` runs it.
"""

from yesno.serve.app import App, create_app
from yesno.serve.exchange import Exchange
from yesno.serve.settings import Settings

__all__ = ["App", "Exchange", "Settings", "create_app"]
