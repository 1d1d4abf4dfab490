"""More rows than memory, shown: files on one machine, and rows that are made as they are needed on a cluster.

Two samples of 5 million rows in 50 columns each from Parquet files, by the threads of one process; and two of a hundred
million rows in 8 columns each, made by partitions and never kept, by two worker processes of dask (without dask, of a
pool).  Memory is that of all processes together, each page that several share counted once.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
from _charts import figure, rows
from _study import ROOT, claim, file, markdown, read, write

from shrinktest import Batches, two_sample_test
from shrinktest._parallel import usable_cores
from shrinktest.plots.axes import BLUE

NAME = "large_demo"
TITLE = "More rows than memory: files, and a cluster"
SHIFT = 0.002  # of all columns of the second sample, in standard deviations
ROWS = {"files": 10_000_000, "generated": 100_000_000}  # of both samples together; of each
QUICK = {"files": 20_000, "generated": 40_000}
COLUMNS = {"files": 50, "generated": 8}
MANY = 100  # workers for which times are foretold
_FILE, _PART = 250_000, 500_000  # rows of a file, and of a partition
_SMALL = 20  # a run of so many times fewer rows shows what does not grow with them
_EVERY = 0.2  # seconds between two looks at the memory
_TASK = 2**22  # rows of a task at most, and the tasks of a worker where there are fewer
_SHARE = 4


# --- data ----------------------------------------------------------------------------------------------------------


def normal(seed: tuple[int, int], rows: int, columns: int) -> np.ndarray:
    """Part ``seed[1]`` of sample ``seed[0]``."""
    return np.random.default_rng(seed).normal(SHIFT * seed[0], 1.0, size=(rows, columns))


def parts_of(rows: int, most: int) -> list[int]:
    """Sizes of the parts of so many rows."""
    return [min(most, rows - start) for start in range(0, rows, most)]


def write_file(folder: Path, sample: int, number: int, rows: int, columns: int) -> None:
    """One Parquet file of a sample; random numbers do not compress."""
    import pyarrow
    from pyarrow import parquet

    values = normal((sample, number), rows, columns)
    table = pyarrow.table({f"c{j}": values[:, j] for j in range(columns)})
    path = folder / f"{'xy'[sample]}{number:05}.parquet"
    parquet.write_table(table, path, row_group_size=50_000, compression="none", use_dictionary=False)


@dataclass(frozen=True)
class Part:
    """Rows of a sample that are made when somebody asks for them, by whoever does."""

    seed: tuple[int, int]
    shape: tuple[int, int]
    ndim: int = 2

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        return normal(self.seed, *self.shape)


# --- memory --------------------------------------------------------------------------------------------------------


class Memory(threading.Thread):
    """The largest memory, in bytes, that this process and all that it started hold at one time (Linux)."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most, self.over = 0, threading.Event()

    def __enter__(self) -> Memory:
        self.start()
        return self

    def __exit__(self, *_) -> None:
        self.over.set()
        self.join()
        self.look()

    def run(self) -> None:
        while not self.over.wait(_EVERY):
            self.look()

    def look(self) -> None:
        self.most = max(self.most, sum(map(held, family(os.getpid()))))


def family(first: int) -> list[int]:
    """A process and all that descend from it."""
    children: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:  # it has ended
            continue
        children.setdefault(parent, []).append(int(path.parent.name))
    found = [first]
    for one in found:
        found += children.get(one, [])
    return found


def held(process: int) -> int:
    """Bytes of a process, those that it shares with others in equal parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)


# --- the two demonstrations ----------------------------------------------------------------------------------------


def tested(X, Y, args, workers) -> tuple[float, float, int]:
    """Seconds, p-value, and rows that were tested."""
    start = time.perf_counter()
    samples = (Batches(one, bins=args.bins) for one in (X, Y))
    result = two_sample_test(*samples, gram="rff", rank=args.rank, rng=0, workers=workers)
    return time.perf_counter() - start, result.pvalue, sum(result.n_observations)


def read_alone(paths: list[Path], workers: int) -> float:
    """Seconds to read files into arrays, batch after batch."""
    start = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(_arrays, paths))
    return time.perf_counter() - start


def _arrays(path: Path) -> None:
    from pyarrow.parquet import ParquetFile

    with ParquetFile(path) as one:
        for some in one.iter_batches(batch_size=2**16, use_threads=False):
            np.column_stack([column.to_numpy() for column in some.columns])


def from_files(args) -> dict:
    """Two samples in Parquet files, by threads of this process."""
    workers, rows, columns = args.workers or usable_cores(), args.file_rows, COLUMNS["files"]
    with tempfile.TemporaryDirectory(dir=args.folder) as name:
        folder, made = Path(name), []
        for sample in range(2):
            for number, some in enumerate(parts_of(rows // 2, min(_FILE, rows // 8))):
                made.append((folder, sample, number, some, columns))
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as other:  # whose memory is no part of it
            for one in made:
                other.submit(write_file, *one).result()
        paths = sorted(folder.glob("*.parquet"))
        few, pvalue, small = tested(paths[:1], paths[-1:], args, workers)  # compiles what is compiled
        few, pvalue, small = tested(paths[:1], paths[-1:], args, workers)
        alone = read_alone(paths, workers)
        with Memory() as memory:
            seconds, pvalue, used = tested(str(folder / "x*"), str(folder / "y*"), args, workers)
        size = sum(path.stat().st_size for path in paths)
    return row("files", "threads", args, workers, columns, (small, few), (used, seconds), memory, pvalue) | {
        "GB of data": size / 1e9,
        "reading alone": alone,
    }


@contextmanager
def crew(args, workers: int):
    """A cluster of dask on this machine, or without dask a pool of processes; and what it is called."""
    try:
        if args.quick:
            raise ImportError
        from distributed import Client, LocalCluster
    except ImportError:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield pool, "processes"
        return
    options = {"n_workers": workers, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with LocalCluster(**options, silence_logs="ERROR") as cluster, Client(cluster) as client:
        yield client, "dask"


def generated(args) -> dict:
    """Two samples that are made by partitions, by worker processes."""
    workers, columns, rows = args.workers or 2, COLUMNS["generated"], args.generated_rows

    def samples(rows: int):
        sizes = parts_of(rows, max(1, min(_PART, rows // (2 * workers))))
        return ([Part((sample, i), (n, columns)) for i, n in enumerate(sizes)] for sample in range(2))

    with crew(args, workers) as (who, name):
        tested(*samples(2000), args, who)  # compiles what is compiled
        few, _, small = tested(*samples(rows // _SMALL), args, who)
        with Memory() as memory:
            seconds, pvalue, used = tested(*samples(rows), args, who)
    found = row("generated", name, args, workers, columns, (small, few), (used, seconds), memory, pvalue)
    return found | {"GB of data": 8e-9 * 2 * rows * columns, "reading alone": float("nan")}


def row(part: str, who: str, args, workers: int, columns: int, small, large, memory: Memory, pvalue: float) -> dict:
    """What was measured; times grow by a part with the rows, and the other part does not."""
    (fewer, less), (rows, seconds) = small, large
    each = (seconds - less) / (rows - fewer)
    return {
        **{"part": part, "workers": workers, "who": who, "rows": rows, "columns": columns},
        **{
            "features": args.rank,
            "bins": args.bins,
            "seconds": seconds,
            "p-value": pvalue,
            "peak GB": memory.most / 1e9,
        },
        **{"us a row and worker": 1e6 * each * workers, "fixed seconds": max(0.0, seconds - each * rows)},
    }


# --- the page ------------------------------------------------------------------------------------------------------


def opening(tables) -> str:
    """What came out, in two sentences."""
    where = {"files": "from files", "generated": "made as they are needed"}
    return " ".join(
        f"A two-sample test of {one['rows'] / 1e6:.3g} million rows in {one['columns']} columns "
        f"({one['GB of data']:.3g} GB, {where[one['part']]}) took {one['seconds']:.3g} s with {one['workers']} "
        f"{'threads' if one['who'] == 'threads' else 'processes'}, and held {one['peak GB']:.2g} GB at most."
        for one in tables[""].to_dict("records")
    )


def alt(tables) -> str:
    """What the picture shows."""
    return "Size of the data beside the memory that the test held: " + claim(
        "it held a part of the data", bool((tables[""]["peak GB"] < tables[""]["GB of data"]).all())
    )


def chart(tables):
    """Size of the data beside what was held of it, and seconds of the test."""
    table = tables[""]
    made, (left, right) = figure(1.0 + 0.7 * len(table), 2)
    places = np.arange(len(table))
    for offset, (column, label, colour) in enumerate(
        (("GB of data", "data", "#C8C8C8"), ("peak GB", "held at most", BLUE))
    ):
        bars = left.barh(places + 0.36 * offset - 0.18, table[column], height=0.34, color=colour, label=label)
        left.bar_label(bars, [f"{value:.2g}" for value in table[column]], padding=2, fontsize="small")
    rows(left, [f"{one.rows / 1e6:.3g} million rows,\n{one.columns} columns" for one in table.itertuples()])
    left.set_xlabel("GB")
    bars = right.barh(places, table["seconds"], height=0.5, color=BLUE)
    right.bar_label(bars, [f"{value:.3g}" for value in table["seconds"]], padding=2, fontsize="small")
    rows(right, [f"{one.workers} {'threads' if one.who == 'threads' else 'processes'}" for one in table.itertuples()])
    right.set_xlabel("seconds")
    for ax in (left, right):
        ax.grid(visible=False)
        ax.margins(x=0.15)
    made.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=2, frameon=False)
    return made


def page(tables) -> list[str]:
    """What the page says."""
    said = []
    for one in tables[""].to_dict("records"):
        where = "from Parquet files" if one["part"] == "files" else "made by partitions and kept nowhere"
        by = {"threads": "threads of one process", "dask": "worker processes of dask on one machine"}
        text = (
            f"**{one['rows']:,} rows in {one['columns']} columns**, two samples together, {where} "
            f"({one['GB of data']:.3g} GB): {one['seconds']:.4g} s by {one['workers']} "
            f"{by.get(one['who'], 'processes of a pool')}, with {one['features']} random Fourier features and "
            f"{one['bins']} bins; that is {one['us a row and worker']:.3g} µs a row and worker, and "
            f"{one['fixed seconds']:.2g} s that do not grow with the rows. All processes together held "
            f"{one['peak GB']:.3g} GB at most."
        )
        if one["part"] == "files":
            times = one["seconds"] / one["reading alone"]
            text += (
                " Reading the files into arrays once, and nothing else, took as many threads "
                f"{one['reading alone']:.3g} s: the test, which reads them twice, takes {times:.3g} times as long."
            )
        else:
            seconds = one["fixed seconds"] + 1e-6 * one["us a row and worker"] * one["rows"] / MANY
            half = one["rows"] // 2
            tasks = 2 * -(-half // min(max(2 * one["bins"], -(-half // (_SHARE * MANY))), _TASK))
            sent = 8e-9 * tasks * one["features"] * one["bins"] / 2
            text += (
                f" If {MANY} workers took as long for a row, they would take {seconds:.3g} s, and send back {sent:.2g} "
                f"GB of sums in {tasks} tasks, whatever the number of permutations; this is extrapolated, not "
                "measured."
            )
        said.append(text.replace(",", " ", text.split(" rows")[0].count(",")))
    return [
        *said,
        "The time that grows with the rows is that of the large run less that of a small one. The rows are normal, "
        f"those of the second sample moved by {SHIFT} standard deviations in every column.",
        markdown(tables[""]),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--quick", action="store_true", help="few rows, without dask; writes no docs")
    add("--only", choices=tuple(ROWS), help="one of both; of the other what was written before is kept")
    add("--file-rows", type=int, help=f"rows in files, both samples together (default: {ROWS['files']})")
    add("--generated-rows", type=int, help=f"rows made in each of two samples (default: {ROWS['generated']})")
    add("--rank", type=int, default=100, help="random features (default: 100)")
    add("--bins", type=int, default=2000, help="bins (default: 2000)")
    add("--workers", type=int, help="threads, and processes (default: all cores, and 2)")
    add("--folder", help="where the temporary folder of the files is made; they take 400 bytes a row")
    add("--out", type=Path, help="folder for table and page (default: docs for all rows, else none)")
    args = parser.parse_args()
    whole = not (args.quick or args.file_rows or args.generated_rows)
    rows = QUICK if args.quick else ROWS
    args.file_rows, args.generated_rows = args.file_rows or rows["files"], args.generated_rows or rows["generated"]
    args.out = args.out or (ROOT / "docs" if whole else None)
    found = {}
    for name, run in (("files", from_files), ("generated", generated)):
        if args.only in (None, name):
            found[name] = pd.DataFrame([run(args)])
        elif args.out is not None and (path := args.out / file(NAME, "")).exists():
            before = read(path)
            found[name] = before[before["part"] == name]
    table = pd.concat(found.values(), ignore_index=True)
    write(args, NAME, TITLE, page({"": table}), table)


if __name__ == "__main__":
    from large_demo import main  # so that what workers are sent is known by the name of this file

    main()
