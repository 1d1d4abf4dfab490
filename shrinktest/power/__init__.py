"""Power studies: how often a test rejects, and how many observations it needs."""

from shrinktest.power import designs
from shrinktest.power.result import PowerStudyResult
from shrinktest.power.sample_size import SampleSizeResult, solve_sample_size
from shrinktest.power.store import merge
from shrinktest.power.study import power_study

__all__ = ["PowerStudyResult", "SampleSizeResult", "designs", "merge", "power_study", "solve_sample_size"]
