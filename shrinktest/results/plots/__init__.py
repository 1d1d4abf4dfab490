"""Pictures of results; matplotlib is imported when one is asked for."""
