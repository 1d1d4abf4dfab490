"""Results: values that carry their null distribution, print themselves, and say where the samples differ."""
