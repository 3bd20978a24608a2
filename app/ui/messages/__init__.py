"""What happened, where it is read: banners, marks on panels, the log, and the strip of what takes long."""
