"""How different, how dependent: effect sizes that do not depend on the sample size, with their intervals."""
