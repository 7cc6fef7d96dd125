"""Labelled items, and the files that they are read from."""

from yesno.labelled.files import LabelledSet, lines_of, load_set, set_of
from yesno.labelled.item import Asked, Item, Kind, answer_of, kind_of, label_index, options_of

__all__ = [
    "Asked",
    "Item",
    "Kind",
    "LabelledSet",
    "answer_of",
    "kind_of",
    "label_index",
    "lines_of",
    "load_set",
    "options_of",
    "set_of",
]
