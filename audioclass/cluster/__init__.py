"""Work on many machines: a scheduler of Dask knows the workers, this process submits items and sees to the rest."""
