"""Everything learnt, as arrays and plain values: save, load, verify, describe."""
