import pytest

from yesno.errors import QuestionError
from yesno.reading.labels import LabelSet, letter_labels, name_labels, number_labels, yes_no_labels
from yesno.reading.languages import LANGUAGES, yes_no_forms
from yesno.reading.tokens import fold


def exact(labels: LabelSet, text: str):
    index = labels.match(text.encode()).exact
    return None if index is None else labels.labels[index].key


def begun(labels: LabelSet, text: str):
    return {labels.labels[i].key for i in labels.match(text.encode()).extends}


@pytest.mark.parametrize(
    "text", ["Yes", " yes", "YES", "Yes.", '"yes"', "**Yes**", "y", "True", "Ｙｅｓ", "ja", "sí", "はい"]
)
def test_yes_is_known_in_every_spelling(text):
    assert exact(yes_no_labels(), text) == "yes"


@pytest.mark.parametrize("text", ["No", " NO", "no,", "n", "False", "nein", "não", "いいえ", "不是"])
def test_no_is_known_in_every_spelling(text):
    assert exact(yes_no_labels(), text) == "no"


@pytest.mark.parametrize(
    "text", ["Not", "None", "Note", "Yesterday", "Yeah no", "noyes", "", " ", ".", "-no"]
)
def test_what_only_looks_like_a_label_is_none(text):
    assert exact(yes_no_labels(), text) is None


def test_no_word_means_yes_in_one_language_and_no_in_another():
    yes, no = yes_no_forms()
    assert not set(yes) & set(no)
    assert len(LANGUAGES) >= 11


def test_every_form_is_folded_already():
    assert [form for forms in yes_no_forms() for form in forms if fold(form) != form] == []


def test_only_the_languages_asked_for_count():
    english = yes_no_labels(("Yes", "No"), ("en",))
    assert exact(english, "ja") is None
    assert exact(english, "yes") == "yes"


def test_other_words_can_stand_for_yes_and_no():
    agreed = yes_no_labels(("Agree", "Disagree"))
    assert exact(agreed, "agree") == "yes"
    assert exact(agreed, "Disagree.") == "no"
    turned = yes_no_labels(("No", "Yes"), ("en",))
    assert (exact(turned, "no"), exact(turned, "yes")) == ("yes", "no")


def test_letters_stand_for_keys_and_keys_for_themselves():
    labels = letter_labels(["billing", "technical help"])
    assert [label.shown for label in labels.labels] == ["A", "B"]
    assert exact(labels, "b)") == exact(labels, "Technical Help") == "technical help"
    assert begun(labels, "tech") == {"technical help"}


def test_a_key_of_one_letter_never_stands_for_itself_among_letters():
    labels = letter_labels(["B", "A"])
    assert (exact(labels, "A"), exact(labels, "B")) == ("B", "A")


def test_there_are_twenty_six_letters_and_no_key_is_dropped():
    keys = [f"key {i}" for i in range(27)]
    assert len(letter_labels(keys[:26])) == 26
    with pytest.raises(QuestionError, match="27"):
        letter_labels(keys)


def test_numbers_count_from_where_the_prompt_starts():
    labels = number_labels(["low", "mid", "high"], start=1)
    assert exact(labels, "3") == exact(labels, "HIGH") == "high"
    assert exact(labels, "0") is None


def test_a_key_that_is_a_number_never_stands_for_itself_among_numbers():
    labels = number_labels(["30", "20", "10"], start=1)
    assert exact(labels, "20") is None
    assert exact(labels, "2") == "20"


def test_a_key_named_twice_stands_for_none():
    labels = number_labels(["same", "same"], start=0)
    assert exact(labels, "same") is None
    assert exact(labels, "1") == "same"


def test_names_that_fold_to_the_same_are_refused_with_both():
    with pytest.raises(QuestionError, match=r"'Blue'.*'blue\.'"):
        name_labels(["Blue", "blue."])


@pytest.mark.parametrize("name", ["", "?!", '""', "\u200b"])
def test_a_name_that_leaves_nothing_to_read_is_refused(name):
    with pytest.raises(QuestionError, match="rename"):
        name_labels([name, "other"])


def test_a_beginning_is_no_label_until_it_is_whole():
    labels = name_labels(["refund", "replace", "red"])
    assert begun(labels, "re") == {"refund", "replace", "red"}
    assert begun(labels, "ref") == {"refund"}
    assert exact(labels, "ref") is None


def test_part_of_a_character_begins_the_labels_that_share_its_bytes():
    labels = name_labels(["🌍", "🔥"])
    assert labels.match("🌍".encode()[:2]).extends == {0, 1}
    assert labels.match("🌍".encode()[:3]).extends == {0}
    assert labels.match(b"\xff").extends == frozenset()


def test_a_reply_spells_a_label_only_as_a_whole():
    labels = yes_no_labels()
    assert labels.spells(" Yes! ")
    assert not labels.spells("Yes, of course")
    assert not labels.spells("Ye")
