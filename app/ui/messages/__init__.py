"""What happened, where it is read: notices, marks on panels, the log, and the strip of what takes long."""
