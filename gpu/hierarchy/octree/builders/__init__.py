"""Builders of octrees that rays are traced through, one folder each."""
