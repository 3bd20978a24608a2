"""The row above the picture: what is chosen of the pipeline and what it costs, and the sheets where it is changed."""
