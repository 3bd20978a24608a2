"""Builders of kd-trees, one folder each."""
