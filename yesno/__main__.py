"""Run the program with `python -m yesno`."""

from yesno.cli.main import main

main()
