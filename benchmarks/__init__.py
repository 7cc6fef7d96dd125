"""Benchmarks of yesno; each folder is a program, such as `python -m benchmarks.overhead`."""
