"""A corpus before it is learnt from: what each recording holds, what is wrong, how much there is, its folds."""
