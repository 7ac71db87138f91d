"""Groups of labels: learnt, given, merged, edited, drawn; as TOML and in Newick's notation.

Three values hold a tree of labels, each for one use:

- `taxonomy.Taxonomy` is what a user states and reads: nodes by name, nothing else. Corpora, back-off, hierarchical
  measures and model files speak of it.
- `branches.Branch` is what strategies compute with: nodes by label indices, each with a height. `of_taxonomy` makes one
  of a taxonomy; the plan of a strategy keeps it.
- `text.WrittenTree` is a branch with the names of its nodes and the machines that were trained for them: what is drawn,
  exported, edited and read back. Its `taxonomy` is the way back to what a user reads.

`reading.py` and `newick.py` read what `text.py` and `newick.py` write, `files.py` chooses among them by suffix,
`editing.py` moves labels and groups, `drawing.py` draws.
"""
