"""A path → labelled entries: one layout per file, each offered through the hook of corpus readers."""
