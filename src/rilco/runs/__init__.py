"""The folder of a run: what is in it, how far it has come, and the loop that fills it. Reading one needs no JAX."""
