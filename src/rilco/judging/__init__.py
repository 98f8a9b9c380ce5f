"""Judging demonstrations: who is like the others, who is not, and how sure that is."""
