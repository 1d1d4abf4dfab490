"""What one variable says of others: regressions on it, models of a variable given it, and its neighbourhoods."""
