"""Read the configuration file of `yesno serve`; every mistake is told with its line."""

from __future__ import annotations

import difflib
import ipaddress
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import BaseModel, ValidationError

from yesno.errors import ConfigError, YesnoError
from yesno.serve.keys import KeyRing, read_keys
from yesno.serve.tables import File, LimitsTable
from yesno.serve.toml_lines import Place, lines_of, nearest_line

__all__ = ["ServeConfig", "check_binding", "is_loopback", "load_config"]

_NO_KEY = "missing"
_WORDS: dict[str, str] = {
    "extra_forbidden": "is unknown",
    _NO_KEY: "is missing",
    "greater_than": "must be greater than {gt}, not {input!r}",
    "greater_than_equal": "must be at least {ge}, not {input!r}",
    "less_than_equal": "must be at most {le}, not {input!r}",
    "literal_error": "must be one of {expected}, not {input!r}",
    "int_type": "must be a whole number, not {input!r}",
    "float_type": "must be a number, not {input!r}",
    "bool_type": "must be true or false, not {input!r}",
    "string_type": "must be a text, not {input!r}",
    "list_type": "must be a list, not {input!r}",
    "finite_number": "must be a finite number, not {input!r}",
    "too_short": "needs at least one entry",
    "model_type": "must be a table, not {input!r}",
    "dict_type": "must be a table, not {input!r}",
    "string_too_short": "must not be empty",
}
_FORMS = {
    "base_url": "must be an address such as 'https://api.openai.com/v1', without user, query or fragment",
    "api_key_env": "must be the name of an environment variable, not a key",
    "forward_headers": "must be a list of names of headers",
    "orders": "must be a whole number of at least 1, or 'auto'",
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """Something in a file that is not as it must be."""

    place: Place
    text: str
    """What is wrong, as it follows the name of the place."""


@dataclass(frozen=True)
class ServeConfig:
    """A configuration file that was read and holds no mistake."""

    path: Path
    file: File
    text: str = field(repr=False)
    """The file as it is written."""
    ring: KeyRing | None = field(repr=False)
    """The keys that may ask; None when none are asked for."""

    @property
    def folder(self) -> Path:
        """The folder that relative paths begin at."""
        return self.path.parent

    @cached_property
    def limits(self) -> dict[str, LimitsTable]:
        """Name of a key -> what it may use, for keys with limits of their own."""
        own = self.file.limits.model_dump(exclude_unset=True)
        return {
            name: type(table)(**{**own, **table.model_dump(exclude_unset=True)})
            for name, table in self.file.keys.items()
        }

    def at_fault(self, place: Place, error: YesnoError) -> ConfigError:
        """Return an error that was met while a part of the file was put to use, with its line."""
        return _told(self.path, self.text, [Mistake(place, f"– {error}")])

    def limits_of(self, key: str | None) -> LimitsTable:
        """Return what a key may use, or all callers together where there are no keys."""
        return self.file.limits if key is None else self.limits.get(key, self.file.limits)


def load_config(path: Path, variable: Callable[[str], str | None]) -> ServeConfig:
    """Read and check a configuration file.

    Args:
        path: The file.
        variable: Returns the value of an environment variable, to see whether the keys named are there.

    Raises:
        ConfigError: The file cannot be read, is no TOML, or holds a mistake; each is named with its line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{str(path)!r} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{str(path)!r} is not UTF-8 text") from error
    try:
        values = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is not TOML: {error}") from error
    try:
        file = File.model_validate(values)
    except ValidationError as error:
        raise _told(path, text, list(_mistakes(error, values))) from error
    mistakes = [*_contradictions(file), *_missing_keys(file, variable)]
    ring = None
    if file.server.keys_file is not None:
        try:
            ring = read_keys(path.parent / file.server.keys_file)
        except ConfigError as error:
            mistakes.append(Mistake(("server", "keys_file"), f"– {error}"))
        else:
            mistakes += _unknown_keys(file, ring)
    try:
        check_binding(file.server.host, ring, keys_named=file.server.keys_file is not None)
    except ConfigError as error:
        mistakes.append(Mistake(("server", "host"), f"– {error}"))
    if mistakes:
        raise _told(path, text, mistakes)
    return ServeConfig(path, file, text, ring)


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_binding(host: str, ring: KeyRing | None, *, keys_named: bool = False) -> None:
    """Refuse to listen where others can reach it while it asks for no key.

    Raises:
        ConfigError: The host is not of this machine alone, and there are no keys.
    """
    if is_loopback(host) or (ring is not None and ring.keys) or (keys_named and ring is None):
        return
    lack = "the file of keys is empty" if ring is not None else "there are no keys"
    raise ConfigError(
        f"{host!r} can be reached from other machines, and {lack}; whoever reaches it would spend your money. "
        "Make one with `yesno keys add NAME --file keys.txt` and name the file, or listen on 127.0.0.1"
    )


def _mistakes(error: ValidationError, values: Any) -> Iterator[Mistake]:  # noqa: ANN401 - a parsed file
    seen: set[Place] = set()
    for found in error.errors(include_url=False):
        place = _in_file(found["loc"], values)
        if place in seen:
            continue  # the other members of a union say the same in other words
        seen.add(place)
        kind = found["type"]
        if kind == "extra_forbidden":
            yield Mistake(place, f"is unknown; {_known(place)}")
        elif "[key]" in found["loc"]:
            yield Mistake(
                place, "cannot be a name; take letters, digits and . _ : / -, a letter or digit first"
            )
        elif kind == "string_pattern_mismatch" or (_owner(place) in _FORMS and kind != _NO_KEY):
            yield Mistake(place, _form(place, found["input"]))
        elif kind in _WORDS:
            shown = {**found.get("ctx", {}), "input": found["input"]}
            yield Mistake(place, _WORDS[kind].format(**shown))
        else:
            yield Mistake(place, found["msg"])


def _form(place: Place, given: Any) -> str:  # noqa: ANN401 - a parsed file
    if isinstance(given, str) and not given.strip():
        return "must not be blank"
    return (
        _FORMS.get(_owner(place))
        or f"cannot be {given!r}; take letters, digits and . _ : / -, a letter or digit first"
    )


def _owner(place: Place) -> str:
    return next((part for part in reversed(place) if isinstance(part, str)), "")


def _in_file(location: tuple[str | int, ...], values: Any) -> Place:  # noqa: ANN401 - a parsed file
    """Return the part of an error's location that is of the file: what is left names types and unions."""
    place: list[str | int] = []
    inside = values
    for number, part in enumerate(location):
        if part == "[key]":
            break
        if isinstance(inside, dict) and isinstance(part, str):
            if part not in inside and number < len(location) - 1:
                continue
            place.append(part)
            inside = inside.get(part)
        elif isinstance(inside, list) and isinstance(part, int):
            place.append(part)
            inside = inside[part] if part < len(inside) else None
    return tuple(place)


def _known(place: Place) -> str:
    """Return which keys the table of an unknown key has, or the close one."""
    table: type[BaseModel] = File
    parts = iter(place[:-1])
    for part in parts:
        kind = table.model_fields[str(part)].annotation
        table = next(_tables_in(kind))
        if dict in (get_origin(kind), *map(get_origin, get_args(kind))):
            next(parts, None)  # a name of the user's
    names = list(table.model_fields)
    close = difflib.get_close_matches(str(place[-1]), names, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known are {', '.join(names)}"


def _tables_in(kind: Any) -> Iterator[type[BaseModel]]:  # noqa: ANN401 - a type's annotation
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
    for part in get_args(kind):
        yield from _tables_in(part)


def _contradictions(file: File) -> Iterator[Mistake]:
    chat, names = file.chat, set(file.models)
    if chat is not None:
        if chat.decide_with not in file.models:
            yield Mistake(("chat", "decide_with"), _unknown(chat.decide_with, file.models))
        if chat.default not in chat.routes:
            yield Mistake(("chat", "default"), _unknown(chat.default, chat.routes))
        if chat.name in chat.routes:
            yield Mistake(("chat", "name"), f"{chat.name!r} is the name of a route too; rename one")
        names |= {chat.name, *chat.routes}
        yield from _undescribed(file)
    for key, table in file.keys.items():
        for number, name in enumerate(table.models or ()):
            if name not in names:
                yield Mistake(("keys", key, "models", number), _unknown(name, sorted(names)))
    if file.keys and file.server.keys_file is None:
        yield Mistake(("keys",), "has limits of keys, and `keys_file` in [server] is missing")
    if any(table.budget_usd is not None for table in (file.limits, *file.keys.values())):
        yield from _unpriced(file)


def _undescribed(file: File) -> Iterator[Mistake]:
    assert file.chat is not None  # noqa: S101 - the caller looked
    if len(file.chat.routes) > 1:
        for name, route in file.chat.routes.items():
            if not route.description:
                yield Mistake(
                    ("chat", "routes", name), "needs a `description`: what the deciding model reads about it"
                )


def _unpriced(file: File) -> Iterator[Mistake]:
    from yesno.prices import price_for

    for alias, table in file.models.items():
        provider, _, model = table.model.partition(":")
        if table.price is None and price_for(provider, model, table.base_url) is None:
            yield Mistake(
                ("models", alias),
                "needs a `price`: there is a budget in dollars, and what this model costs is unknown",
            )
    for name, route in ({} if file.chat is None else file.chat.routes).items():
        if route.price is None:
            yield Mistake(("chat", "routes", name), "needs a `price`: there is a budget in dollars")


def _missing_keys(file: File, variable: Callable[[str], str | None]) -> Iterator[Mistake]:
    named = [(("models", alias), table.api_key_env) for alias, table in file.models.items()]
    if file.chat is not None:
        named += [
            (("chat", "routes", name), route.api_key_env)  # type: ignore[misc]  # a longer place
            for name, route in file.chat.routes.items()
        ]
    for place, name in named:
        if name is not None and not variable(name):
            yield Mistake((*place, "api_key_env"), f"names the environment variable {name}, which is not set")


def _unknown_keys(file: File, ring: KeyRing) -> Iterator[Mistake]:
    names = [key.name for key in ring.keys]
    for name in file.keys:
        if name not in names:
            yield Mistake(("keys", name), f"is not in the file of keys; {_unknown(name, names)}")


def _unknown(name: str, known: Any) -> str:  # noqa: ANN401 - any names
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known) or 'none'}"
    return f"{name!r} is unknown; {hint}"


def _told(path: Path, text: str, mistakes: list[Mistake]) -> ConfigError:
    lines = lines_of(text)
    rows = sorted((nearest_line(lines, found.place) or 0, _sentence(found)) for found in mistakes)
    told = [f"{path}, line {line}: {said}" if line else f"{path}: {said}" for line, said in rows]
    return ConfigError("\n".join(told))


def _sentence(found: Mistake) -> str:
    name = ".".join(str(part) for part in found.place if isinstance(part, str))
    return f"{name} {found.text}" if name else found.text
