"""Power studies: how often a test rejects, and how many observations it needs."""
