"""BirdNET's embedding for audioclass.

`network.py` opens the file of weights that another distribution brings and runs it, `embedding.py` is the component.
"""
