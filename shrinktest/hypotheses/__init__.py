"""Null hypotheses about data: which permutations they allow, and how a statistic is prepared to test them."""
