"""Arrow and Parquet from strangers: only the columns asked for, plain numbers, and no more than may fit in memory.

pyarrow is an extra, so it is imported when a function runs.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rilco.data.formats.files import check_file, check_size, parsing
from rilco.data.formats.parquet import claim
from rilco.errors import DemonstrationError

_STREAM_END = b"\xff\xff\xff\xff\0\0\0\0"
_BATCH_ROWS = 2**13


def library(path: Path, name: str = "pyarrow") -> Any:
    """The library or a part of it, or an error that names the extra it comes with."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DemonstrationError(
            f"{path}: this format needs pyarrow, which is not installed ({error}). Install it with "
            "pip install '.[formats]' in rilco's folder, or use another format, such as npz."
        ) from error


def read_parquet(path: Path, wanted: Callable[[str], bool]) -> Any:
    """The wanted columns of a Parquet file."""
    pa, pq = library(path), library(path, "pyarrow.parquet")
    check_file(path)
    with parsing(path, "Parquet"), pa.memory_map(str(path)) as source:
        numeric, size = claim(memoryview(source.read_buffer()).cast("B"), wanted)
        check_size(path, size)
        source.seek(0)
        with pq.ParquetFile(source) as file:
            for field in file.schema_arrow:
                if wanted(field.name) and field.name not in numeric:
                    raise _not_numbers(path, field.name, field.type)
            leaves = [leaf for inside in numeric.values() for leaf in inside]
            batches = list(file.iter_batches(_BATCH_ROWS, columns=leaves, use_threads=False))
            table = pa.Table.from_batches(batches) if batches else file.read(columns=leaves)
            table.validate(full=True)
            if len(table) != file.metadata.num_rows:
                raise ValueError(f"{len(table)} rows were found of {file.metadata.num_rows}")
            return table


def read_stream(path: Path, wanted: Callable[[str], bool]) -> Any:
    """The wanted columns of an Arrow stream, message by message.

    The file is mapped, so that a damaged length cannot ask for more memory than the file has.
    """
    pa = library(path)
    check_file(path)
    check_size(path, path.stat().st_size)
    with parsing(path, "Arrow"), pa.memory_map(str(path)) as source:
        source.seek(max(0, source.size() - len(_STREAM_END)))
        if source.read() != _STREAM_END:
            raise ValueError("the end is missing")
        source.seek(0)
        messages = list(pa.ipc.MessageReader.open_stream(source))
        kinds = [message.type for message in messages]
        if kinds[:1] != ["schema"] or set(kinds[1:]) - {"record batch"}:  # anything else can crash pyarrow
            raise ValueError(
                f"expected a schema and record batches, and found {', '.join(kinds) or 'nothing'}"
            )
        schema = pa.ipc.read_schema(messages[0])
        batches = []
        for message in messages[1:]:
            if _is_compressed(message.metadata.to_pybytes()):
                raise DemonstrationError(
                    f"{path}: the Arrow data is compressed, and how large it really is cannot be known before "
                    "unpacking it. Write it uncompressed."
                )
            batch = pa.ipc.read_record_batch(message, schema)
            batch.validate(full=True)  # without it, a damaged offset is followed to wherever it points
            batches.append(batch)
        table = pa.Table.from_batches(batches, schema)
        return table.select([name for name in table.column_names if wanted(name)])


def matrix(path: Path, name: str, values: Any) -> np.ndarray:
    """[N, columns]: a column of lists that are all as long, or of single numbers."""
    if not _is_list(values.type):
        return _numbers(path, name, values)[:, None]
    inner, lengths = unpack(path, name, values)
    width = int(lengths[0]) if len(lengths) else 0
    if (lengths != width).any():
        raise DemonstrationError(f"{path}: the rows of {name} differ in length. Write it again.")
    return _numbers(path, name, inner).reshape(len(values), width)


def column(path: Path, name: str, values: Any) -> np.ndarray:
    """[N]: a column of single numbers, or of lists of one."""
    result = matrix(path, name, values)
    if result.shape[1] != 1:
        raise DemonstrationError(
            f"{path}: {name} has {result.shape[1]} values in a row; expected one. Write it again."
        )
    return result[:, 0]


def unpack(path: Path, name: str, values: Any) -> tuple[Any, np.ndarray]:
    """The contents of all lists, one after the other, and the length of each."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _is_list(values.type) or values.null_count or values.type == pa.list_(values.type.value_type, 0):
        raise DemonstrationError(
            f"{path}: {name} has the type {values.type} and {values.null_count} missing values; expected lists "
            "of numbers, all there. Write it again."
        )
    return pc.list_flatten(values), pc.list_value_length(values).to_numpy()


def pack(values: Any, lengths: np.ndarray) -> Any:
    """The opposite of `unpack`."""
    import pyarrow as pa

    return pa.ListArray.from_arrays(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32), values)


def rows(values: np.ndarray) -> Any:
    """A column of rows of one length, for writing; of single numbers where a row has one."""
    import pyarrow as pa

    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return flat if values.shape[1] == 1 else pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _numbers(path: Path, name: str, values: Any) -> np.ndarray:
    import pyarrow.types as kinds

    if not any(of(values.type) for of in (kinds.is_floating, kinds.is_integer, kinds.is_boolean)):
        raise _not_numbers(path, name, values.type)
    if values.null_count:
        raise DemonstrationError(
            f"{path}: {name} has {values.null_count} missing values; expected numbers, all there. Write it again."
        )
    numbers = np.asarray(values.to_numpy(zero_copy_only=False))
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which the record refuses
        return numbers.astype(np.float32, copy=False) if numbers.dtype.kind == "f" else numbers


def _not_numbers(path: Path, name: str, kind: Any) -> DemonstrationError:
    return DemonstrationError(
        f"{path}: {name} has the type {kind}; expected numbers. Text, images and objects cannot be used: store "
        "plain numbers."
    )


def _is_compressed(message: bytes) -> bool:
    """Whether a record batch names a compression: field 3 of the table in field 2 of the message.

    pyarrow does not tell, so this walks the flatbuffer, which pyarrow has verified. A table begins with the distance
    back to its list of field offsets. There, 0 stands for a field that is left out.
    """

    def field(table: int, number: int) -> int:
        fields = table - struct.unpack_from("<i", message, table)[0]
        size = struct.unpack_from("<H", message, fields)[0]
        place = 4 + 2 * number
        offset = struct.unpack_from("<H", message, fields + place)[0] if place < size else 0
        return table + offset if offset else 0

    root = struct.unpack_from("<I", message, 0)[0]
    header = field(root, 2)
    return field(header + struct.unpack_from("<I", message, header)[0], 3) != 0
