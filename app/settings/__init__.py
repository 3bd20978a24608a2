"""Every option of the program in one frozen value, and the texts, files and older words that it is read from."""
