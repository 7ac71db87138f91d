"""Frames → features: `windows.py` says where windows lie, the poolings what is kept of the frames in each."""
