"""Parts of the monitor: scores of rows, their cells among reference rows, and bets on the cells."""
