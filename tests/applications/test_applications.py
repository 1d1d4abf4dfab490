"""scikit-learn's own checks of an estimator, on those of the applications."""

from __future__ import annotations

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

from shrinktest.applications import KernelMeanMatching, ShrinkageKernelPCA

#: What they want is another wording, or an error where one dimension is read as one column, as everywhere in the
#: package, or numbers as objects, which it refuses.
WORDING = {
    "check_complex_data",
    "check_dtype_object",
    "check_estimators_empty_data_messages",
    "check_fit1d",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_n_features_in_after_fitting",
}


@pytest.mark.parametrize("estimator", [ShrinkageKernelPCA(), KernelMeanMatching()], ids=repr)
def test_scikit_learns_checks(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that are skipped
        results = check_estimator(estimator, on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert failed <= WORDING
    assert sum(result["status"] == "passed" for result in results) > 20
