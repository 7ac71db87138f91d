"""A path → labelled clips: one layout per file, each offered through the hook of corpus readers."""
