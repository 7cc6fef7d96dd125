"""The command `calls approve`: show what waits for a person, and write down what they decide."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from yesno.cli.layers import read_json
from yesno.cli.menu import has_keys, picked
from yesno.cli.options import Json
from yesno.cli.session import INTERRUPTED, OK
from yesno.cli.views import counted, screen
from yesno.errors import ConfigError, DecisionError, PendingStateError

if TYPE_CHECKING:
    from rich.console import Console

    from yesno.toolcalls import Deny, PendingCall, PendingCalls

__all__ = ["approve_calls"]


def approve_calls(
    pending: Annotated[
        Path,
        typer.Argument(
            metavar="PENDING", help="The record of waiting calls, JSON; '-' reads standard input."
        ),
    ],
    allow: Annotated[
        list[str] | None, typer.Option("--allow", metavar="ID", help="Let this call run; repeat it.")
    ] = None,
    deny: Annotated[
        list[str] | None,
        typer.Option(
            "--deny", metavar="ID[=REASON]", help="Refuse this call; the model hears why. Repeat it."
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", metavar="FILE", help="Write the decisions here, as JSON.")
    ] = None,
    as_json: Json = False,
) -> int:
    """Show the calls that wait, and ask about each.

    In a terminal choose with the arrow keys and Enter, or with y and n. Nothing is run. What is decided goes back to the program that stopped, which checks and runs it.
    """
    from yesno.toolcalls import PendingCalls, answers_document

    record = PendingCalls.read(read_json(pending))
    if record.expires is not None and time.time() > record.expires:
        raise PendingStateError("the record of waiting calls expired; ask the model again", reason="expired")
    decisions = _given(allow or (), deny or ())
    record.decide({**{call.id: True for call in record.waiting}, **decisions})  # names ids that are none
    open_calls = [call for call in record.waiting if call.id not in decisions]
    if open_calls:
        if str(pending) == "-" or not sys.stdin.isatty():
            told = ", ".join(call.id for call in open_calls)
            raise DecisionError(f"there is no terminal to ask on; give --allow or --deny for: {told}")
        try:
            decisions |= _asked(record, open_calls)
        except (EOFError, KeyboardInterrupt):
            print("\nyesno: nothing was decided", file=sys.stderr)
            return INTERRUPTED
    document = answers_document(record, decisions)
    if output is not None:
        _write(output, document)
    if as_json:
        print(json.dumps(document, ensure_ascii=False))
    else:
        _tell(record, document)
    return OK


def _given(allow: Sequence[str], deny: Sequence[str]) -> dict[str, Any]:
    from yesno.toolcalls import Allow, Deny

    found: dict[str, Any] = {}
    pairs: list[tuple[str, Allow | Deny]] = [(call_id, Allow()) for call_id in allow]
    for text in deny:
        call_id, _, reason = text.partition("=")
        pairs.append((call_id, Deny(reason.strip() or None)))
    for call_id, said in pairs:
        if call_id in found:
            raise DecisionError(f"there are two decisions for call {call_id!r}; give one")
        found[call_id] = said
    return found


def _asked(record: PendingCalls, open_calls: Sequence[PendingCall]) -> dict[str, Any]:
    console = screen(stderr=True)
    waiting, others = len(open_calls), [call for call in record.calls if call not in open_calls]
    console.print(f"[bold]{counted(waiting, 'call waits', 'calls wait')} for you[/]")
    for call in others:
        _show_other(console, call)
    found: dict[str, Any] = {}
    for place, call in enumerate(open_calls, start=1):
        _show_call(console, call, f"{place} of {waiting}")
        found[call.id] = True if _is_allowed(console) else _refused(console)
    return found


def _is_allowed(console: Console) -> bool:
    from rich.prompt import Confirm

    if not has_keys(console):
        return Confirm.ask("Run it?", console=console)
    console.print("[bold]Run it?[/]")
    allowed = picked(console, [("y", "Run it"), ("n", "Do not run it")], start=1) == 0
    console.print("[green]> Run it[/]" if allowed else "[red]> Do not run it[/]")
    return allowed


def _refused(console: Console) -> Deny:
    from rich.prompt import Prompt

    from yesno.toolcalls import Deny

    told = "Why? The model hears it; empty for no reason"
    said: str = Prompt.ask(told, default="", show_default=False, console=console)
    return Deny(said.strip() or None)


def _show_call(console: Console, call: PendingCall, place: str) -> None:
    from rich.markup import escape

    from yesno.toolcalls.pending import visible

    facts = [place, call.id, *([f"risk {call.risk}"] if call.risk else [])]
    console.print()
    console.print(f"[bold]{escape(visible(call.name))}[/]  [dim]{escape(visible(' · '.join(facts)))}[/]")
    arguments = call.arguments
    for name, value in (arguments or {}).items():
        shown = json.dumps(value, ensure_ascii=False, indent=2)
        lines = "\n    ".join(visible(line) for line in shown.split("\n"))
        console.print(f"  {escape(visible(name))}: {escape(lines)}", soft_wrap=True)
    if not arguments:
        console.print("  [dim]no arguments[/]")
    if call.reason:
        console.print(f"  [yellow]{escape(visible(call.reason))}[/]", soft_wrap=True)


def _show_other(console: Console, call: PendingCall) -> None:
    from rich.markup import escape

    if call.settled is not None:
        doing = f"does not run ({call.settled.replace('_', ' ')})"
    else:
        doing = "is decided" if call.waiting else "runs as well"
    console.print(f"[dim]{escape(_line(call))}  {doing}[/]", soft_wrap=True)


def _tell(record: PendingCalls, document: dict[str, Any]) -> None:
    console = screen()
    for call in record.calls:
        if call.id not in document["decisions"]:
            continue
        said = document["decisions"][call.id]
        doing = "[green]allow[/]" if said["allow"] else "[red]deny [/]"
        console.print(doing, end=" ")
        console.print(_line(call), markup=False, soft_wrap=True)


def _line(call: PendingCall) -> str:
    """Return a call in one line, from what runs: its own `summary` may be somebody else's words."""
    from yesno.toolcalls.pending import call_summary

    return call_summary(call.name, call.arguments_text if call.runs_with is None else call.runs_with)


def _write(output: Path, document: dict[str, Any]) -> None:
    try:
        output.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{str(output)!r} cannot be written: {error.strerror or error}") from error
