"""Demonstrations: the record of them, where they come from, and the files that hold them."""
