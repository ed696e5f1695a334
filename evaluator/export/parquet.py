# SPDX-License-Identifier: Apache-2.0
"""Writes a Parquet file of the comma-separated values on standard input, for `pkbench export`.

The arguments are the file and, as JSON, {"columns": {name: type}, "metadata": {key: text}}; types
are DuckDB's. Rows pass through: memory does not grow with them.
"""

import json
import sys

MISSING, FAILED = 3, 1
LONGEST_ROW_BYTES = 8 << 20  # of some sixty texts of at most 32 KiB, quotes doubled


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def statement(path: str, columns: dict[str, str], metadata: dict[str, str]) -> str:
    """Lists stand in the text as JSON has them, which DuckDB casts."""
    read = {name: "VARCHAR" if kind.endswith("[]") else kind for name, kind in columns.items()}
    types = ", ".join(f"{quoted(name)}: {quoted(kind)}" for name, kind in read.items())
    values = ", ".join(f'CAST("{name}" AS {kind}) AS "{name}"' for name, kind in columns.items())
    notes = ", ".join(f"{key}: {quoted(text)}" for key, text in metadata.items())
    return (
        f"COPY (SELECT {values} FROM read_csv('/dev/stdin', auto_detect = false, header = true, "
        "delim = ',', quote = '\"', escape = '\"', new_line = '\\n', nullstr = '', "
        f"allow_quoted_nulls = false, max_line_size = {LONGEST_ROW_BYTES}, "
        f"buffer_size = {2 * LONGEST_ROW_BYTES}, columns = {{{types}}})) TO {quoted(path)} "
        f"(FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false, KV_METADATA {{{notes}}})"
    )


def main() -> int:
    path, schema = sys.argv[1], json.loads(sys.argv[2])
    try:
        import duckdb
    except ImportError:
        return MISSING
    settings = {
        "threads": 1,
        "memory_limit": "256MB",
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    try:
        with duckdb.connect(config=settings) as connection:
            connection.execute(statement(path, schema["columns"], schema["metadata"]))
    except duckdb.Error as error:
        print(str(error).splitlines()[0])
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main())
