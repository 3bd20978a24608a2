"""Bounding volume hierarchies: builders, layouts and traversals around one canonical tree (tree.py)."""
