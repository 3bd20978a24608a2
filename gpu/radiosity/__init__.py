"""Radiosity of points: surfaces as points that send light to each other until it converges (Goral et al. 1984, between
points instead of patches as in Goradia et al., GRAPHITE 2007, and section 6 of their octrees on GPUs)."""
