"""Posteriors of windows → segments that touch and never overlap, as the windows come.

`smoothing.py` brings windows and their smoothed posteriors together again, `cells.py` gives each the stretch between
its borders, which `borders.py` finds, `segments.py` makes runs of labels of them, `silence.py` finds what is silent and
`stretches.py` divides by it; `back_off.py` names what is doubtful, `tiers.py` keeps labels apart that overlap, and
`results.py` goes all the way from windows to a table. `outlines.py` is what an archive keeps of all this.
"""
