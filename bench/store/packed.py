"""A store's rows in one Parquet file, and SQL over them: by DuckDB, which is an extra.

The file lies in the store and says which state of the store it is of: the times at which its folders were changed. A
store that was changed since is read result by result, so that no answer is old.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import pathlib
import re
import tempfile
from collections.abc import Iterator
from typing import IO, Any

from raygrove.app.export.whole_files import write_atomically
from raygrove.gpu.errors import Error

from .folder import Store
from .reading import is_store, read_results
from .tables import flat_rows

NAME = "results.parquet"
TABLE = "results"
"""What SQL calls the rows."""
STATE = "raygrove_store"
"""The key of the file's metadata under which the store's state is."""
MOST_MEMORY = "4GB"


class QueryError(Error):
    """SQL that cannot be answered, or no DuckDB to answer it. `excerpt` is the line of the SQL that is wrong, and below
    it a caret where; "" where that is not known."""

    def __init__(self, what: str, remedy: str, excerpt: str = "") -> None:
        super().__init__(what, "results", remedy)
        self.excerpt = excerpt


@dataclasses.dataclass(frozen=True)
class Answer:
    """Rows of a query by the names of `columns`; whether they came from the packed file."""

    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    is_packed: bool


def pack(store: Store, damaged: list[str]) -> tuple[pathlib.Path, int]:
    """Write the rows of all results into the store's packed file; returns it, and how many they are. Raises QueryError,
    StoreError, OSError."""
    path, state = store.folder / NAME, state_of(store)
    with _connected() as database, _rows_file(str(store.folder), damaged) as (rows, count):
        if not count:
            raise QueryError(f"{store.folder} holds no results", "sweep first: raygrove sweep plan.toml --store DIR")
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, NAME)
            database.execute(
                f"COPY (SELECT * FROM {_from_json(rows)}) TO {_quoted(made)} "
                f"(FORMAT parquet, COMPRESSION zstd, KV_METADATA {{{STATE}: {_quoted(state)}}})"
            )
            data = pathlib.Path(made).read_bytes()

    def write(file: IO[bytes]) -> None:
        file.write(data)

    write_atomically(path, write)
    return path, count


def query(place: str, sql: str, damaged: list[str]) -> Answer:
    """The answer of one SELECT over the table `results`, which is all that it can read. Raises QueryError, StoreError,
    OSError."""
    with contextlib.ExitStack() as stack:
        database = stack.enter_context(_connected())
        import duckdb  # which is there

        packed = _fresh(database, place)
        if packed is not None:
            made = f"VIEW {TABLE} AS SELECT * FROM read_parquet({_quoted(str(packed))})"
            database.execute(f"SET allowed_paths = [{_quoted(str(packed))}]")
        else:
            rows, count = stack.enter_context(_rows_file(place, damaged))
            source = _from_json(rows) if count else "(SELECT NULL::VARCHAR AS sha WHERE false)"
            made = f"TABLE {TABLE} AS SELECT * FROM {source}"
        database.execute(f"CREATE {made}")
        for setting in ("enable_external_access = false", "lock_configuration = true"):  # SQL of others reads no files
            database.execute(f"SET {setting}")
        try:
            statements = database.extract_statements(sql)
            if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
                raise QueryError("this is not one SELECT", f"write as in: SELECT count(*) FROM {TABLE}")
            found = database.execute(statements[0])
            columns = tuple(str(column[0]) for column in found.description or ())
            return Answer(columns, [dict(zip(columns, row, strict=True)) for row in found.fetchall()], bool(packed))
        except duckdb.Error as error:
            said, line, caret = str(error).partition("\nLINE ")
            sentence = " ".join(said.split())
            remedy = f"the table is {TABLE}, a column each key of --json"
            raise QueryError(f"SQL: {sentence}", remedy, f"{line}{caret}".strip("\n")) from error


def state_of(store: Store) -> str:
    """What changes whenever a result comes or goes: a digest of when the store's folders were changed."""
    times = sorted(
        (entry.name, entry.stat().st_mtime_ns)
        for entry in os.scandir(store.folder)
        if re.fullmatch("[0-9a-f]{2}", entry.name)
    )
    return hashlib.sha256(repr(times).encode()).hexdigest()


def _fresh(database: Any, place: str) -> pathlib.Path | None:
    """The packed file of a store, where it holds what the store holds now."""
    import duckdb

    if not is_store(place):
        return None
    store = Store(place)
    path = store.folder.absolute() / NAME
    if not path.is_file():
        return None
    try:
        held = dict(database.execute(f"SELECT key, value FROM parquet_kv_metadata({_quoted(str(path))})").fetchall())
    except duckdb.Error as error:
        raise QueryError(f"{path} is damaged ({str(error).splitlines()[0]})", "pack the store again") from error
    return path if held.get(STATE.encode()) == state_of(store).encode() else None


@contextlib.contextmanager
def _connected() -> Iterator[Any]:
    """A database in memory, which fetches no extension."""
    try:
        import duckdb
    except ModuleNotFoundError as error:
        raise QueryError("DuckDB is not installed", "install it: pip install 'raygrove[query]'") from error
    config = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false",
              "memory_limit": MOST_MEMORY}  # fmt: skip
    with contextlib.closing(duckdb.connect(":memory:", config=config)) as database:
        yield database


@contextlib.contextmanager
def _rows_file(place: str, damaged: list[str]) -> Iterator[tuple[str, int]]:
    """The rows of results as a file of JSON lines, which DuckDB reads fastest, and how many they are."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        count = 0
        for row in flat_rows(read_results(place, damaged)):
            file.write(json.dumps(row, separators=(",", ":")) + "\n")
            count += 1
        file.flush()
        yield file.name, count


def _from_json(path: str) -> str:
    return f"read_json({_quoted(path)}, format = 'newline_delimited', sample_size = -1, maximum_depth = 4)"


def _quoted(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"
