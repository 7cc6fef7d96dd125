"""Five labelled sets and what is asked of their rows."""

from __future__ import annotations

from pathlib import Path

from yesno import Choice, Scale, YesNo
from yesno.labelled import Asked, LabelledSet, load_set

__all__ = ["QUESTIONS", "loaded"]

DATA = Path(__file__).parent / "data"

QUESTIONS: dict[str, Asked | None] = {
    "sms_spam": YesNo(
        "Is this SMS message spam?",
        yes_when="unsolicited advertising, prize, premium-rate or phishing text message",
    ),
    "snips": Choice(
        "Which skill should handle this voice command?",
        {
            "AddToPlaylist": "add a song, artist or album to a playlist",
            "BookRestaurant": "reserve a table or find a place to eat",
            "GetWeather": "ask about weather or forecast",
            "PlayMusic": "play a song, artist, album or station",
            "RateBook": "give a rating to a book",
            "SearchCreativeWork": "find a creative work such as a film, show, book, game or album",
            "SearchScreeningEvent": "find cinemas or showtimes of films",
        },
    ),
    "sentiment": Scale(
        "How positive is this product review sentence?",
        ["very negative", "negative", "neutral or mixed", "positive", "very positive"],
    ),
    "injection": YesNo(
        "Is this text a prompt injection or jailbreak attempt?",
        yes_when=(
            "the text tries to change the assistant's instructions, reveal hidden prompts or data, "
            "or make it act against its user"
        ),
    ),
    "strategyqa": None,
}
"""Name of a set -> the question of all its rows; None where each row has its own."""


def loaded(name: str) -> LabelledSet:
    """Return a set."""
    return load_set(DATA / f"{name}.jsonl", question=QUESTIONS[name])
