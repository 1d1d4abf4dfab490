"""Given variables: how they are read, and regressions of other variables on them."""
