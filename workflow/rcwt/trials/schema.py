"""The two tables everything downstream reads: one row a trial, and one row an item and judge.

A new run, the paper's own data and a simulation all end in these columns, so that the analysis after
them is the same code. Missing values are nulls, never zeros. `q` and `p` are fractions.
"""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rcwt.base.sealed import damaged, read_bytes

TRIAL_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("experiment", pa.string()),
        ("task", pa.string()),
        ("kind", pa.string()),
        ("window", pa.int64()),
        ("model", pa.string()),
        ("order", pa.string()),
        ("pack", pa.string()),
        ("q", pa.float64()),
        ("c", pa.int64()),
        ("u", pa.int64()),
        ("r", pa.int64()),
        ("p", pa.float64()),
        ("trial", pa.int64()),
        ("status", pa.string()),
        ("hits", pa.int64()),
        ("possible", pa.int64()),
        ("raw_hits", pa.int64()),
        ("raw_possible", pa.int64()),
        ("headline_judge", pa.string()),
        ("ceiling", pa.float64()),
        ("text", pa.string()),
        ("finish_reason", pa.string()),
        ("returned_model", pa.string()),
        ("response_id", pa.string()),
        ("prompt_tokens", pa.int64()),
        ("cached_tokens", pa.int64()),
        ("completion_tokens", pa.int64()),
        ("reasoning_tokens", pa.int64()),
        ("cost_usd", pa.float64()),
        ("price_as_of", pa.string()),
        ("attempts", pa.int64()),
        ("latency_s", pa.float64()),
        ("time_utc", pa.string()),
        ("prompt_sha256", pa.string()),
        ("file", pa.string()),
        ("line", pa.int64()),
        # Additions: whether the budget cut a benchmark pack; whether another model answered than was asked.
        ("task_truncated", pa.bool_()),
        ("other_model", pa.bool_()),
        # What the model reasoned inside its reply, taken off `text`; effective items that the reply declines to answer.
        ("reasoning_text", pa.string()),
        ("abstained", pa.int64()),
    ]
)

SCORE_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("experiment", pa.string()),
        ("window", pa.int64()),
        ("model", pa.string()),
        ("order", pa.string()),
        ("pack", pa.string()),
        ("q", pa.float64()),
        ("trial", pa.int64()),
        ("judge", pa.string()),
        ("item", pa.string()),
        ("effective", pa.bool_()),
        ("score", pa.int64()),
        ("score_status", pa.string()),
        # Additions: DROP's F1 of an item that is answered by spans of text.
        ("f1", pa.float64()),
        # The score of the same with typography and articles in plain forms.
        ("plain_score", pa.int64()),
    ]
)

#: Where a file keeps the number of its rows, so that one that lost some is known.
_ROWS = b"rcwt_rows"
#: What names one trial; scores join to trials on it.
TRIAL_KEY = ["experiment", "window", "model", "order", "pack", "q", "trial"]


def write_table(rows: pd.DataFrame, schema: pa.Schema, path: str | Path) -> None:
    """Write `rows` as parquet with exactly the columns of `schema`, in a row order that never varies."""
    keys = [name for name in ("source", *TRIAL_KEY, "judge", "item") if name in schema.names]
    ordered = rows.reindex(columns=schema.names).sort_values(keys, kind="stable", na_position="first")
    table = pa.Table.from_pandas(ordered, schema=schema, preserve_index=False)
    noted = {**(table.schema.metadata or {}), _ROWS: str(table.num_rows).encode()}
    pq.write_table(table.replace_schema_metadata(noted), str(path), write_page_checksum=True)


def read_table(path: str | Path, schema: pa.Schema | None = None) -> pd.DataFrame:
    """Read a table written by `write_table`; integer columns with missing values stay integers.

    Raises StaleResultError for a file that is empty, cut or changed, or that has not the columns of `schema`.
    """
    read_bytes(Path(path))
    try:
        # Not as a data set: a folder in the file's place is none, nor do parts of the path tell columns.
        with pq.ParquetFile(str(path), page_checksum_verification=True) as file:
            table = file.read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise damaged(path, f"not a whole parquet file ({str(error).splitlines()[0]})") from None
    lacking = [name for name in (schema.names if schema else []) if name not in table.schema.names]
    if lacking:
        raise damaged(path, f"columns {', '.join(lacking)} are missing")
    rows = int((table.schema.metadata or {}).get(_ROWS, table.num_rows))
    if rows != table.num_rows:
        raise damaged(path, f"holds {table.num_rows} of {rows} rows")
    frame: pd.DataFrame = table.to_pandas(types_mapper=_nullable)
    return frame


def _nullable(kind: pa.DataType) -> object | None:
    return {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}.get(kind)
