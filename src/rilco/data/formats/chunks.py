"""The numbers of an HDF5 array: each chunk is unpacked once, and never to more than it may hold.

libhdf5 believes what a chunk says of its size. It unpacks a chunk to whatever its bytes expand to, and reads beyond
what it got. It does so again for every part that is asked for. So libhdf5 is only asked where the bytes lie. This
module reads them, and undoes gzip, LZF, shuffling and checksums.
"""

from __future__ import annotations

import array
import math
import os
import zlib
from collections.abc import Iterator
from typing import Any

import h5py
import numpy as np

_SLAB_BYTES = 2**24
_OVERHANG = 2**27  # bytes: how much larger than the whole array a chunk may be
_WORDS = 2**16  # of a checksum, at a time: the sums are then exact as float64
_GZIP, _LZF = h5py.h5z.FILTER_DEFLATE, 32000
_SHUFFLE, _CHECKSUM = h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_FLETCHER32


def fill(rows: np.ndarray, dataset: h5py.Dataset) -> None:
    """Fills `rows` with the array's first ones, a slab at a time; ValueError where they are not all there."""
    if rows.size == 0:
        return
    if rows.ndim == 0:
        rows[()] = dataset[()]
        return
    if dataset.chunks is not None:
        _fill_from_chunks(rows, dataset)
        return
    if dataset.nbytes > dataset.file.id.get_filesize():
        raise ValueError(f"{dataset.name} claims {dataset.nbytes} bytes, more than the file has")
    with np.errstate(over="ignore"):  # too large for float32 becomes infinite, which the record refuses
        step = max(1, _SLAB_BYTES // max(1, dataset.nbytes // len(dataset)))
        for first in range(0, len(rows), step):
            stop = min(first + step, len(rows))
            rows[first:stop] = dataset[first:stop]


def _fill_from_chunks(rows: np.ndarray, dataset: h5py.Dataset) -> None:
    filters = _filters(dataset)
    with open(dataset.file.filename, "rb", buffering=0) as file:
        for offset, mask, place, size in _stored(dataset):
            if offset[0] < len(rows):
                stored = np.frombuffer(os.pread(file.fileno(), size, place), np.uint8)
                used = [code for bit, code in enumerate(filters) if not mask >> bit & 1]
                corner = tuple(map(slice, offset, np.add(offset, dataset.chunks)))
                _place(rows[corner], _unpack(stored, used, dataset), dataset)


def _filters(dataset: h5py.Dataset) -> list[int]:
    """Codes of the filters, in the order in which they were applied."""
    created = dataset.id.get_create_plist()
    found = [created.get_filter(k) for k in range(created.get_nfilters())]
    codes = [code for code, *_ in found]
    others = [
        str(name, errors="replace")
        for code, _, _, name in found
        if code not in (_GZIP, _LZF, _SHUFFLE, _CHECKSUM)
    ]
    if others or len(set(codes)) < len(codes) or {_GZIP, _LZF} <= set(codes):
        raise ValueError(
            f"{dataset.name} is packed with {', '.join(others) or 'several filters of a kind'}; expected gzip or LZF, "
            "possibly shuffled and with checksums"
        )
    if not h5py.h5t.py_create(dataset.dtype, logical=True).equal(dataset.id.get_type()):
        raise ValueError(f"{dataset.name} is of an unusual kind of number; expected {dataset.dtype}")
    return codes


def _stored(dataset: h5py.Dataset) -> Iterator[tuple[list[int], int, int, int]]:
    """Each chunk's offset in the array, mask of filters left out, place in the file, and size.

    All chunks must be there, each once, and no bytes of the file in two of them.
    """
    size = dataset.dtype.itemsize * math.prod(dataset.chunks)
    if size > dataset.nbytes + _OVERHANG:
        raise ValueError(f"{dataset.name} has {dataset.nbytes} bytes, and a single chunk of it {size}")
    grid = [-(-length // step) for length, step in zip(dataset.shape, dataset.chunks, strict=True)]
    expected, room = math.prod(grid), dataset.file.id.get_filesize()
    numbers = array.array("q")  # a million chunks are honest, and should not be as many objects

    def note(chunk: Any) -> bool | None:
        nonlocal room
        room -= max(1, chunk.size)
        numbers.extend((*chunk.chunk_offset, chunk.filter_mask, chunk.byte_offset, chunk.size))
        return True if room < 0 else None  # ends the search

    dataset.id.chunk_iter(note)
    table = np.frombuffer(numbers, np.int64).reshape(-1, dataset.ndim + 3)
    corner, rest = np.divmod(table[:, : dataset.ndim], dataset.chunks)
    strides = np.cumprod([1, *grid[:0:-1]])[::-1]
    inside = not rest.any() and (corner < grid).all() and len(table) == expected
    if room < 0 or not inside or (np.sort(corner @ strides) != np.arange(expected)).any():
        raise ValueError(
            f"{dataset.name} has {len(table)} chunks; expected {expected}, each once and in the file"
        )
    for *offset, mask, place, length in (map(int, row) for row in table):
        yield offset, mask, place, length


def _unpack(values: np.ndarray, filters: list[int], dataset: h5py.Dataset) -> np.ndarray:
    """[elements, bytes of one], possibly a view in another order."""
    itemsize = dataset.dtype.itemsize
    size = itemsize * math.prod(dataset.chunks)
    for code in reversed(filters):
        if code == _SHUFFLE:
            values = values.reshape(itemsize, -1).T
            continue
        values = np.ascontiguousarray(values).reshape(-1)
        if code == _CHECKSUM:
            values = _checked(values)
        else:
            values = _inflated(values, size + 4) if code == _GZIP else _expanded(values, size + 4)
    if values.size != size:
        raise ValueError(f"a chunk of {dataset.name} has {values.size} bytes; expected {size}")
    return values.reshape(-1, itemsize)


def _place(place: np.ndarray, values: np.ndarray, dataset: h5py.Dataset) -> None:
    """Puts the part of a chunk that is in the array where it belongs, a slab of rows at a time."""
    across = math.prod(dataset.chunks[1:])
    step = max(1, _SLAB_BYTES // (across * dataset.dtype.itemsize))
    inside = tuple(slice(size) for size in place.shape[1:])
    with np.errstate(over="ignore"):
        for first in range(0, len(place), step):
            stop = min(first + step, len(place))
            slab = np.ascontiguousarray(values[first * across : stop * across])
            numbers = slab != 0 if dataset.dtype == bool else slab.view(dataset.dtype)
            place[first:stop] = numbers.reshape(-1, *dataset.chunks[1:])[(slice(None), *inside)]


def _inflated(packed: np.ndarray, most: int) -> np.ndarray:
    """Unpack zlib, up to `most` bytes, in pieces, so that the data is never in memory twice."""
    result, filled, engine = np.empty(most, np.uint8), 0, zlib.decompressobj()
    for first in range(0, len(packed), _SLAB_BYTES):
        rest: Any = packed[first : first + _SLAB_BYTES]
        while len(rest) and not engine.eof:
            part = engine.decompress(rest, min(_SLAB_BYTES, most - filled + 1))
            if filled + len(part) > most:
                raise ValueError("a chunk unpacks to more than it may hold")
            result[filled : filled + len(part)] = np.frombuffer(part, np.uint8)
            filled, rest = filled + len(part), engine.unconsumed_tail
    if not engine.eof:
        raise ValueError("a chunk is cut short")
    return result[:filled]


def _expanded(packed: np.ndarray, most: int) -> np.ndarray:
    """Unpack LZF, up to `most` bytes: runs of plain bytes, and distances back to bytes seen before."""
    data, result, place = packed.tobytes(), bytearray(), 0
    while place < len(data):
        control, place = data[place], place + 1
        if control < 32:
            result += data[place : place + control + 1]
            place += control + 1
        else:
            length = (control >> 5) + 2
            if length == 9:
                length, place = length + data[place], place + 1
            distance, place = ((control & 31) << 8) + data[place] + 1, place + 1
            if distance > len(result):
                raise ValueError("a chunk refers to bytes before its first")
            again = result[-distance:][:length]
            result += again if distance >= length else (again * (length // distance + 1))[:length]
        if len(result) > most:
            raise ValueError("a chunk unpacks to more than it may hold")
    return np.frombuffer(result, np.uint8)


def _checked(stored: np.ndarray) -> np.ndarray:
    """All but the last four bytes, which are Fletcher's sum of the others as big-endian words of 16 bits."""
    data, expected = stored[:-4], int.from_bytes(stored[-4:].tobytes(), "little")
    weights = np.arange(_WORDS, 0, -1).astype(np.float64)
    one, two = 0, 0
    for first in range(0, len(data), 2 * _WORDS):
        block = data[first : first + 2 * _WORDS]
        words = np.append(block, np.zeros(len(block) % 2, np.uint8)).view(">u2").astype(np.float64)
        two += one * len(words) + int(words @ weights[-len(words) :])
        one += int(words.sum())
        one, two = (total and (total - 1) % 65535 + 1 for total in (one, two))  # only nothing is 0
    if (two << 16 | one) != expected:
        raise ValueError("the checksum of a chunk is wrong")
    return data
