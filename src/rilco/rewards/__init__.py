"""Reward learners: each turns demonstrations and the policy's own pairs into a reward (see `learner.py`)."""
