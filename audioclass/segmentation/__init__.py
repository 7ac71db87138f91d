"""Posteriors of windows → segments that touch and never overlap, as the windows come.

`smoothing.py` brings windows and their smoothed posteriors together again, `segments.py` makes runs of labels of them,
`back_off.py` names what is doubtful, `results.py` goes all the way from windows to a table.
"""
