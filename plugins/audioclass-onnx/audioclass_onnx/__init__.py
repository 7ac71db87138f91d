"""Embeddings for audioclass from networks in ONNX files.

`network.py` opens a file and says in one line what is wrong with it, `inputs.py` turns windows of samples into what a
network takes, `embedding.py` is the component, `speech.py` the two networks of a well-known speech embedding.
"""
