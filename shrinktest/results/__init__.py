"""Results: values with null distribution, printing, and where the samples differ."""
