"""The playing head: from seconds that pass to the moment that is drawn, and what each key frame cost."""
