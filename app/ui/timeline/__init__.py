"""The animation's controls and the line with the playing head."""
