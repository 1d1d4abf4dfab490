"""Several statistics over shared relabellings: combined into one test, or adjusted for being many."""
