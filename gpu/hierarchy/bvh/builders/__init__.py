"""Builders: a folder each, whose package defines one subclass of `BvhHierarchy`."""
