"""Groups of labels: learnt, given, merged, edited and drawn; as TOML and as Newick."""
