"""Let atheris choose inputs by the code that they reach, for what `tests.toolcalls.fuzzing` checks.

`pip install 'atheris>=3.0'` (Linux, CPython 3.11 to 3.13; 2026-11), then
`python -m tests.toolcalls.guided 100000 [KIND ...]`; kinds are arguments, replies, streams, records, answers. An input
that breaks something is written to the folder for temporary files, and its path is printed.
"""

import json
import subprocess
import sys
import tempfile

try:
    import atheris
except ImportError:
    raise SystemExit("guided fuzzing needs atheris; run: pip install 'atheris>=3.0'") from None

with atheris.instrument_imports(include=["yesno.toolcalls", "yesno.tools", "yesno.messages", "json"]):
    from tests.toolcalls import fuzzing


class Chooser:
    """What of `random.Random` the manglers use, from the bytes of an input."""

    def __init__(self, data):
        self.given = atheris.FuzzedDataProvider(data)

    def random(self):
        return self.given.ConsumeIntInRange(0, 255) / 256

    def randint(self, low, high):
        return self.given.ConsumeIntInRange(low, high)

    def randrange(self, high):
        return self.given.ConsumeIntInRange(0, high - 1)

    def choice(self, values):
        return values[self.randrange(len(values))]

    def text(self):
        return self.given.ConsumeUnicode(4096)


def arguments(data):
    chooser = Chooser(data)
    kind = chooser.randint(0, 2)
    if kind == 0:
        fuzzing.check_arguments(chooser.text())
    elif kind == 1:
        fuzzing.check_arguments(fuzzing.mangled_text(chooser))
    else:
        fuzzing.check_arguments(data[1:].decode("utf-8", "surrogateescape"))


def replies(data):
    chooser = Chooser(data)
    reply = chooser.choice(fuzzing.SHAPES)
    fuzzing.check_reply(fuzzing.mangled_values(chooser, reply, times=chooser.randint(1, 4)))


def streams(data):
    chooser = Chooser(data)
    chunks = chooser.choice(fuzzing.STREAMS)
    fuzzing.check_stream(fuzzing.mangled_values(chooser, chunks, times=chooser.randint(1, 4)))


def records(data):
    chooser, paused = Chooser(data), PAUSED[0]
    kind = chooser.randint(0, 2)
    if kind == 0:
        paused.check(fuzzing.mangled_values(chooser, paused.values, times=chooser.randint(1, 4)))
    elif kind == 1:
        paused.check(fuzzing.with_another_letter(chooser, paused.text))
    else:
        place = chooser.randrange(len(paused.text))
        paused.check(
            paused.text[:place] + chooser.text() + paused.text[chooser.randrange(len(paused.text)) :]
        )


def answers(data):
    chooser, paused = Chooser(data), PAUSED[0]
    if chooser.randint(0, 1):
        paused.check_answers(fuzzing.mangled_values(chooser, paused.answers, times=chooser.randint(1, 4)))
        return
    text = json.dumps(paused.answers)
    place = chooser.randrange(len(text))
    paused.check_answers(text[:place] + chooser.text() + text[chooser.randrange(len(text)) :])


KINDS = {check.__name__: check for check in (arguments, replies, streams, records, answers)}
PAUSED = []


def main(words):
    """Try one kind in this process, or several in processes of their own: atheris ends the one it runs in."""
    count, *kinds = words
    if len(kinds) != 1:
        for kind in kinds or KINDS:
            done = subprocess.run([sys.executable, "-m", "tests.toolcalls.guided", count, kind], check=False)  # noqa: S603
            if done.returncode:
                return done.returncode
        return 0
    PAUSED.append(fuzzing.Paused())
    flags = [f"-runs={int(count)}", "-max_len=1024", "-len_control=0", "-verbosity=0", "-print_final_stats=1"]
    sys.stdout.write(f"{kinds[0]}\n")
    sys.stdout.flush()
    atheris.Setup([sys.argv[0], *flags, f"-artifact_prefix={tempfile.gettempdir()}/"], KINDS[kinds[0]])
    atheris.Fuzz()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:] or ["100000"]))
