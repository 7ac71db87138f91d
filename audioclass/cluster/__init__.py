"""Work on many machines: a scheduler of Dask knows the workers, this process hands them items and sees to the rest."""
