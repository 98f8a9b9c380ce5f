"""`ril-co-clean`: its settings are in `config.py`, and `phases.py` is the run."""
