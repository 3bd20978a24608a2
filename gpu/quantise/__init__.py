"""Colours of a picture to a palette of few: by an octree of the colour cube, then by moving each colour to the middle
of what it stands for."""
