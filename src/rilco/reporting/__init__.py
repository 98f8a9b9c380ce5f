"""Results as one page: figures and tables of runs, beside the published numbers."""
