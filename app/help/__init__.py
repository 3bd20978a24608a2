"""Help from the docstrings beside the code, and the pages of docs that are made from it."""
