"""Effect sizes, which do not depend on the sample size, with confidence intervals."""
