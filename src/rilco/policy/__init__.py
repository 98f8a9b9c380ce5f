"""Policy learners. Nothing is imported here: rollout workers and saved policies do without JAX."""
