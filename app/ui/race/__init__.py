"""The workspace Race: up to four configurations on the same instants, their pictures, and who is faster and why."""
