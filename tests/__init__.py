"""The tests mirror the house: tests/gpu and tests/app hold one file per module."""
