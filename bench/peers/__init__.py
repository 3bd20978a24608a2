"""Other programs measured beside ours in the same run: the same triangles, the same rays, the same order."""
