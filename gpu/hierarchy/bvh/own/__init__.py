"""Builders of one's own: a function on the host that takes boxes and gives a tree, as a structure like any other."""
