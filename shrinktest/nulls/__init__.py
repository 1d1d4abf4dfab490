"""Null distributions: relabellings, free or restricted, all or random, and what is computed over them."""
