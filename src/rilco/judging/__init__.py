"""Auditing demonstrations: which of them are bad."""
