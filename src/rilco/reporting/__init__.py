"""Results as one page: figures and tables of whatever runs exist, beside the published numbers."""
