"""Builders of grids, one folder each."""
