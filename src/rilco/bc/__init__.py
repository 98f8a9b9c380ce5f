"""Behaviour cloning: by itself (`learner.py`), and as a run (`training.py`)."""
