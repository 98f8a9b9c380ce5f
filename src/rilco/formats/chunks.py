"""The numbers of an HDF5 array: each chunk is unpacked once, and never to more than it may hold.

libhdf5 would unpack a chunk to whatever its bytes expand to, unpack it again for every part that is read, and
crash on a stored size of zero. So only what it does well is left to it: finding the bytes. Checksums, gzip and
shuffling are undone here. A chunk of LZF goes through libhdf5, and must be small.
"""

from __future__ import annotations

import itertools
import math
import zlib
from typing import Any

import h5py
import numpy as np

_SLAB_BYTES = 2**24
_OVERHANG = 2**27  # bytes: how much larger than the whole array a chunk may be
_MOST_LZF = 2**22  # bytes of a stored chunk; LZF unpacks to at most 88 times as many
_GZIP, _SHUFFLE, _CHECKSUM, _LZF = (
    h5py.h5z.FILTER_DEFLATE,
    h5py.h5z.FILTER_SHUFFLE,
    h5py.h5z.FILTER_FLETCHER32,
    32000,
)
_WORDS = 2**16  # of a checksum, at a time: the sums are then exact as float64


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
    chunk, shape = dataset.chunks, (len(rows), *dataset.shape[1:])
    grid = [range(0, size, step) for size, step in zip(dataset.shape, chunk, strict=True)]
    _check_stored(dataset, math.prod(map(len, grid)), filters)
    for offset in itertools.product(*grid):
        if offset[0] >= len(rows):
            break
        place = tuple(
            slice(low, min(low + step, size)) for low, step, size in zip(offset, chunk, shape, strict=True)
        )
        if _LZF in filters:
            rows[place] = dataset[place]
        else:
            mask, stored = dataset.id.read_direct_chunk(offset)
            used = [code for bit, code in enumerate(filters) if not mask >> bit & 1]
            _place(rows[place], _unpack(stored, used, dataset), dataset)


def _filters(dataset: h5py.Dataset) -> list[int]:
    """In the order in which they were applied."""
    created = dataset.id.get_create_plist()
    found = [created.get_filter(k) for k in range(created.get_nfilters())]
    codes = [code for code, *_ in found]
    unknown = [
        name.decode(errors="replace")
        for code, _, _, name in found
        if code not in (_GZIP, _SHUFFLE, _CHECKSUM, _LZF)
    ]
    if unknown or len(set(codes)) < len(codes) or {_GZIP, _LZF} <= set(codes):
        raise ValueError(
            f"{dataset.name} is packed with {', '.join(unknown) or 'the same filter twice'}; expected gzip or LZF, "
            "possibly shuffled and with checksums"
        )
    if _LZF not in codes and not h5py.h5t.py_create(dataset.dtype, logical=True).equal(dataset.id.get_type()):
        raise ValueError(f"{dataset.name} is of an unusual kind of number; expected {dataset.dtype}")
    return codes


def _check_stored(dataset: h5py.Dataset, expected: int, filters: list[int]) -> None:
    """All chunks must be there, none empty, and no bytes of the file in two of them."""
    size = dataset.dtype.itemsize * math.prod(dataset.chunks)
    if size > dataset.nbytes + _OVERHANG:
        raise ValueError(f"{dataset.name} has {dataset.nbytes} bytes, and a single chunk of it {size}")
    room = dataset.file.id.get_filesize()
    least, most = 1 + 4 * (_CHECKSUM in filters), _MOST_LZF if _LZF in filters else room
    sound = 0

    def count(chunk: Any) -> bool | None:
        nonlocal room, sound
        room -= chunk.size
        if room < 0 or not least <= chunk.size <= most:
            return True  # ends the search
        sound += 1
        return None

    dataset.id.chunk_iter(count)
    if sound != expected:
        raise ValueError(
            f"{dataset.name} has {sound} sound chunks; expected {expected}, each of {least} to {most} bytes, and "
            "all in the file"
        )


def _unpack(stored: bytes, filters: list[int], dataset: h5py.Dataset) -> np.ndarray:
    """[elements, bytes of one], possibly a view in another order."""
    itemsize = dataset.dtype.itemsize
    size = itemsize * math.prod(dataset.chunks)
    values = np.frombuffer(stored, np.uint8)
    for code in reversed(filters):
        if code == _SHUFFLE:
            values = values.reshape(itemsize, -1).T
            continue
        values = np.ascontiguousarray(values).reshape(-1)
        values = _checked(values) if code == _CHECKSUM else _inflated(values, size + 4)
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
    """What zlib packed, up to `most` bytes, in pieces, so that it is never in memory twice."""
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
