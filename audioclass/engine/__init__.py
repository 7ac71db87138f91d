"""The whole chain, for commands and for Python: names have become components, and every step shares one run."""
