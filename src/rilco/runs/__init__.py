"""The folder of a run: what is in it, how far it has come, and what is written while it trains. Needs no JAX to read."""
