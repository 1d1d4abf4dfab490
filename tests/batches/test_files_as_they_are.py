"""Files as people have them: names with brackets, months without values, files cut off, stores of data that changed."""

import numpy as np
import pandas as pd
import pytest

from shrinktest import Batches, independence_test, two_sample_test

arrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(200, 2)), rng.normal(size=(150, 2))
HOW = {"gram": "rff", "rank": 20, "rng": 3, "n_resamples": 19}


def test_a_name_with_brackets_is_that_file(tmp_path):
    """A name with brackets is not read as a pattern."""
    for name, values in (("x[1]", X), ("x1", X + 5.0)):
        np.save(tmp_path / f"{name}.npy", values)
    path, expected = tmp_path / "x[1].npy", two_sample_test(Batches([X]), Batches([Y]), **HOW).statistic
    for given in (path, str(path), [path]):
        assert two_sample_test(Batches(given), Batches([Y]), **HOW).statistic == expected
    path.unlink()
    assert two_sample_test(Batches(path), Batches([Y]), **HOW).statistic > 10 * abs(expected)  # a pattern again


def test_a_column_without_values_in_one_file(tmp_path):
    """Arrow writes such a column without a numeric type."""
    parquet.write_table(arrow.table({"a": arrow.nulls(20), "b": X[:20, 1]}), tmp_path / "m1.parquet")
    pd.DataFrame(X, columns=["a", "b"]).to_parquet(tmp_path / "m2.parquet")
    pd.DataFrame(Y, columns=["a", "b"]).to_parquet(tmp_path / "y.parquet")
    paths = str(tmp_path / "m*.parquet"), str(tmp_path / "y.parquet")
    result = two_sample_test(*paths, nan_policy="omit", **HOW)
    assert result.n_observations == (200, 150) and any("20 rows" in note for note in result.notes)


@pytest.mark.parametrize("what", ["array", "cut off", "flipped"])
def test_what_is_no_store_says_so(tmp_path, what):
    store = tmp_path / "s.npz"
    np.save(tmp_path / "x.npy", X)
    run = {"store": store, **HOW}
    two_sample_test(tmp_path / "x.npy", tmp_path / "x.npy", **run)
    whole = bytearray(store.read_bytes())
    whole[len(whole) // 2] ^= 255
    content = {"array": (tmp_path / "x.npy").read_bytes(), "cut off": whole[: len(whole) // 2], "flipped": whole}
    store.write_bytes(content[what])
    with pytest.raises(ValueError, match="does not keep the sums of a test"):
        two_sample_test(tmp_path / "x.npy", tmp_path / "x.npy", **run)


@pytest.mark.parametrize("source", ["memory", "file and memory", "pairs"])
def test_a_store_of_other_data_is_an_error(tmp_path, source):
    """One number that changed in 6000 rows in memory is enough."""
    many = np.random.default_rng(1).normal(size=(6000, 1))
    changed, store = many.copy(), tmp_path / "s.npz"
    changed[np.argsort(many[:, 0])[3000]] += 1e-9

    def run(values):
        if source == "pairs":
            return independence_test(Batches([values]), Batches([many[::-1]]), store=store, **HOW)
        if source == "file and memory":
            np.save(tmp_path / "x.npy", values)
            return two_sample_test(tmp_path / "x.npy", Batches([many[::-1]]), store=store, **HOW)
        return two_sample_test(Batches([values]), Batches([many[::-1]]), store=store, **HOW)

    first = run(many)
    assert run(many).pvalue == first.pvalue
    with pytest.raises(ValueError, match="was begun with other data"):
        run(changed)
