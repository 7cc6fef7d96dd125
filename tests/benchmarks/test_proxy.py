from benchmarks.proxy.__main__ import in_openais_shape, parsed, report
from benchmarks.tools.items import load

ROW = {
    "set": "own",
    "id": "a",
    "offered": 5,
    "sent": 2,
    "needed": 1,
    "needed_sent": 1,
    "tokens_offered": 1000,
    "tokens_sent": 400,
    "decision_requests": 5,
    "decision_tokens": 700,
    "offered_s": 1.0,
    "filtered_s": 3.0,
}


def test_a_report_adds_up_each_set():
    other = {**ROW, "id": "b", "sent": 5, "tokens_sent": 1000, "filtered_s": 5.0}
    *_, own, pool = report([ROW, {**ROW, "set": "pool"}, other], "the command").splitlines()
    assert own == "| own | 2 | 10 | 7 | 2 | 2 | 2,000 | 1,400 | 10 | 1,400 | 1.00 | 4.00 |"
    assert pool == "| pool | 1 | 5 | 2 | 1 | 1 | 1,000 | 400 | 5 | 700 | 1.00 | 3.00 |"
    heading = report([ROW], "the command").splitlines()[2]
    assert heading.count("|") == own.count("|")


def test_tools_are_sent_as_openai_takes_them():
    item = load("own", "heldout", 1)[0]
    shaped = in_openais_shape(item.tools)
    assert [tool["type"] for tool in shaped] == ["function"] * len(item.tools)
    assert [tool["function"]["name"] for tool in shaped] == item.names
    assert all(set(tool["function"]) <= {"name", "description", "parameters"} for tool in shaped)


def test_a_command_without_options_asks_about_a_few_requests():
    options = parsed([])
    assert (options.model, options.sets, options.limit, options.split) == ("local", "own", 5, "heldout")
