"""How structures follow what moves: rebuilt, refitted or left alone. A policy is a file of this folder."""
