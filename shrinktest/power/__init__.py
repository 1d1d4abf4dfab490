"""Power studies: how often a test rejects, and how many observations it needs."""

from shrinktest.power import designs
from shrinktest.power.compared import KNOWN_TESTS, AnyTest
from shrinktest.power.detectable_effect_result import DetectableEffectResult
from shrinktest.power.minimum_detectable_effect import minimum_detectable_effect
from shrinktest.power.power_study import power_study
from shrinktest.power.sample_size_result import SampleSizeResult
from shrinktest.power.solve_sample_size import solve_sample_size
from shrinktest.power.study_result import PowerStudyResult
from shrinktest.power.trials import merge

__all__ = [
    "KNOWN_TESTS",
    "AnyTest",
    "DetectableEffectResult",
    "PowerStudyResult",
    "SampleSizeResult",
    "designs",
    "merge",
    "minimum_detectable_effect",
    "power_study",
    "solve_sample_size",
]
