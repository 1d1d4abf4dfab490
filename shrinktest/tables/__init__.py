"""Tables as people have them, and how their columns become the numbers that a kernel compares."""
