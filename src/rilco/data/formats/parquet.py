"""The sizes that the pages of a Parquet file claim, before any of them is unpacked.

A page of a few bytes can stand for a billion equal numbers, and only its header says how many. pyarrow tells
the counts of whole columns at best, and ends the process where they are damaged. So the headers are read here:
they are structures of Thrift's compact protocol, and the file ends with one that says where they lie.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_MARK = b"PAR1"
_WIDTHS = {0: 1, 1: 4, 2: 8, 3: 12, 4: 4, 5: 8}  # bytes of a number, by Parquet's code; texts are 6 and 7
_SPARE = 2**16  # bytes of a page beyond its numbers and their levels
_MOST_WIDE = 2**20  # numbers in a row
_BOOLEANS = {1: True, 2: False}
_INTEGERS = (4, 5, 6)
_DOUBLE, _BINARY, _STRUCT = 7, 8, 12
_LISTS = (9, 10)


def claim(content: memoryview, wanted: Callable[[str], bool]) -> tuple[dict[str, list[str]], int]:
    """Reads every page's header of the wanted columns; ValueError where they contradict each other.

    Returns the paths of the numbers in each column, with dots between the parts, and the bytes of all of them, unpacked.
    """
    length = int.from_bytes(content[-8:-4], "little")
    if bytes(content[-4:]) != _MARK or not 0 < length <= len(content) - 12:
        raise ValueError("the end is missing")
    footer, _ = _structure(content[-8 - length : -8], 0)
    leaves: dict[tuple[str, str], None] = {}  # a set that keeps the order
    size = 0
    for group in footer[4]:
        for column in group[1]:
            about = column[3]
            path = [bytes(name).decode() for name in about[3]]
            if wanted(path[0]) and about[1] in _WIDTHS:
                leaves[path[0], ".".join(path)] = None
                size += _WIDTHS[about[1]] * _count(content, about, rows=group[3])
    return {name: [path for top, path in leaves if top == name] for name, _ in leaves}, size


def _count(content: memoryview, about: dict[int, Any], rows: int) -> int:
    """The numbers in a stretch of pages that belong to one column."""
    place = min(about[9], about.get(11) or about[9])  # a dictionary comes first
    end = place + about[7]
    if not 0 <= place <= end <= len(content):
        raise ValueError("a column lies outside of the file")
    found = 0
    while place < end:
        header, place = _structure(content, place)
        place += header[3]
        values = next(header[kind][1] for kind in (5, 7, 8) if kind in header)
        if header[3] < 0 or not 0 <= header[2] <= values * (_WIDTHS[about[1]] + 8) + _SPARE or values < 0:
            raise ValueError(f"a page of {values} numbers claims {header[2]} bytes")
        found += values if 7 not in header else 0
    if place != end or found != about[5] or found > rows * _MOST_WIDE:
        raise ValueError(f"a column claims {about[5]} numbers in {rows} rows; its pages hold {found}")
    return found


def _structure(content: memoryview, place: int) -> tuple[dict[int, Any], int]:
    """The fields by their numbers, and where the structure ends."""
    fields: dict[int, Any] = {}
    number = 0
    while kind := content[place] & 15:
        step, place = content[place] >> 4, place + 1
        if step:
            number += step
        else:
            number, place = _integer(content, place)
        if kind in _BOOLEANS:
            fields[number] = _BOOLEANS[kind]
        else:
            fields[number], place = _value(content, place, kind)
    return fields, place + 1


def _value(content: memoryview, place: int, kind: int) -> tuple[Any, int]:
    if kind in _INTEGERS:
        return _integer(content, place)
    if kind == _BINARY:
        length, place = _varint(content, place)
        if length > len(content) - place:
            raise ValueError("a text is longer than the file")
        return content[place : place + length], place + length
    if kind == _STRUCT:
        return _structure(content, place)
    if kind in _LISTS:
        return _list(content, place)
    if kind in (1, 2, 3):  # a byte, also for a truth in a list
        return content[place], place + 1
    if kind == _DOUBLE:
        return None, place + 8
    raise ValueError(f"a field has the unknown type {kind}")


def _list(content: memoryview, place: int) -> tuple[list[Any], int]:
    kind, length, place = content[place] & 15, content[place] >> 4, place + 1
    if length == 15:
        length, place = _varint(content, place)
    values = []
    for _ in range(length):
        value, place = _value(content, place, kind)
        values.append(value)
    return values, place


def _integer(content: memoryview, place: int) -> tuple[int, int]:
    coded, place = _varint(content, place)
    return coded >> 1 ^ -(coded & 1), place


def _varint(content: memoryview, place: int) -> tuple[int, int]:
    result = 0
    for shift in range(0, 70, 7):
        byte = content[place + shift // 7]
        result |= (byte & 127) << shift
        if byte < 128:
            return result, place + shift // 7 + 1
    raise ValueError("a number is too long")
