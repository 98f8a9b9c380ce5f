"""Worker processes that own environments and act with a NumPy copy of the policy."""
