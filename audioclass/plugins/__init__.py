"""One door for all: what is installed, what it offers, and how a plugin is written, checked and mended.

`manager.py` turns names into classes and keeps what fails apart; it names the files of the rooms as strings and
imports none of them until a component is used.
"""
