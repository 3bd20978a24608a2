"""Everything that opens as a window of its own: questions, settings, export, keys, palette, help."""
