"""Campaigns that look for files that the program does not stand: `make campaign`."""
