"""Tensors of torch as numpy arrays, and sparse matrices, which are refused."""

from __future__ import annotations

from typing import Any


def refuse_sparse(x: Any, name: str) -> None:
    """Raise TypeError for a sparse matrix of scipy, which numpy takes for one object, or of torch."""
    scipys = hasattr(x, "toarray") and hasattr(x, "nnz") and not hasattr(x, "columns") and not hasattr(x, "__array__")
    torchs = _is_tensor(x) and (getattr(x, "is_sparse", False) or "sparse" in str(getattr(x, "layout", "")))
    if scipys or torchs:
        method = "toarray" if scipys else "to_dense"
        raise TypeError(
            f"{name} is a sparse matrix of shape {tuple(x.shape)}; give an array, which .{method}() makes of it"
        )


def _is_tensor(x: Any) -> bool:
    """Whether this is a tensor of torch, which need not be installed."""
    return hasattr(x, "detach") and hasattr(x, "cpu") and hasattr(x, "numpy")


def without_tensors(x: Any, name: str) -> Any:
    """Return a tensor of torch, or each of a list of them, as a numpy array; anything else unchanged.

    Gradients are dropped, and types that numpy lacks, such as bfloat16, become float32.  Raises TypeError for sparse
    tensors.
    """
    if isinstance(x, list | tuple) and len(x) and _is_tensor(x[0]):
        return [without_tensors(one, name) for one in x]
    if not _is_tensor(x):
        return x
    refuse_sparse(x, name)
    tensor = x.detach().cpu()
    try:
        return tensor.numpy()
    except TypeError:
        return tensor.float().numpy()
