"""Reference against estimated → measures, their intervals, and tests between systems; `evaluation.py` gathers them."""
