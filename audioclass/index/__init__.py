"""The index of an archive: tables that grow, questions to them, and what sounds alike.

`schema.py` says what the tables hold, `tables.py` writes them, `snapshot.py` reads them as they are at one moment,
`query.py` asks for segments, `similar.py` for windows that are near a sound.
"""
