"""The menu bar: each menu's entries as a list of commands."""
