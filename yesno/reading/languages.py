"""How "yes" and "no" are written, per language.

Every form is in the shape that `yesno.reading.tokens.fold` gives. No form means "yes" in one of these
languages and "no" in another, so a reader may accept all of them at once.
"""

from __future__ import annotations

__all__ = ["LANGUAGES", "yes_no_forms"]

LANGUAGES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "en": (("yes", "y", "true"), ("no", "n", "false")),
    "de": (("ja", "wahr"), ("nein", "falsch")),
    "fr": (("oui", "vrai"), ("non", "faux")),
    "es": (("sí", "si", "verdadero"), ("no", "falso")),
    "pt": (("sim", "verdadeiro"), ("não", "nao", "falso")),
    "it": (("sì", "si", "vero"), ("no", "falso")),
    "zh": (("是", "是的", "对"), ("否", "不是", "不")),
    "ja": (("はい", "ええ"), ("いいえ", "いえ")),
    "ko": (("예", "네"), ("아니요", "아니오", "아뇨")),
    "hi": (("हाँ", "हां", "जी हाँ"), ("नहीं", "जी नहीं")),
    "ar": (("نعم", "أجل"), ("لا", "كلا")),
}


def yes_no_forms(languages: tuple[str, ...] = tuple(LANGUAGES)) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the forms of "yes" and of "no" in these languages, without repeats."""
    yes = dict.fromkeys(form for code in languages for form in LANGUAGES[code][0])
    no = dict.fromkeys(form for code in languages for form in LANGUAGES[code][1])
    return tuple(yes), tuple(no)
