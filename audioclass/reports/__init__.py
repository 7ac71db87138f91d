"""Pages for people: self-contained HTML that opens without a network."""
