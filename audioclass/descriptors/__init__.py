"""Spectra → values per frame, one family of descriptors per file; `spectra.py` holds the views they share."""
