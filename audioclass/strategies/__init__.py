"""A plan of dichotomies and a way to combine their answers → posteriors, one family of strategies per file."""
