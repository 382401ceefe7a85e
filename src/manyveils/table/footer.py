"""How large a Parquet file is unpacked, as its footer says; the library that reads it does not tell.

The footer is written in Thrift's compact protocol: fields with a step to their number and a type, integers in sevens.
"""

import io
from collections.abc import Iterator
from typing import BinaryIO

MAGIC = b"PAR1"
# Larger footers are of files with very many parts, which take their time and are no bombs of a few bytes.
LONGEST = 1 << 21
# Types; true and false have no bytes of their own as fields, and one as members of a list.
TRUTHS, INTEGERS, BINARY, LIST, SET, STRUCT = (1, 2), (4, 5, 6), 8, 9, 10, 12
BYTE, FIXED = 3, {3: 1, 7: 8}
# So many members or more, and their number stands by itself.
LONG = 15
# Fields of the file's metadata and of a row group.
ROW_GROUPS, TOTAL_BYTES = 4, 2


def unpacked_bytes(file: BinaryIO) -> int:
    """The bytes of all row groups before they were packed; 0 where the footer does not say, or is no footer."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(size - 8, 0))
    end = file.read(8)
    length = int.from_bytes(end[:4], "little")
    if end[4:] != MAGIC or not 0 < length <= min(size - 8, LONGEST):
        return 0
    file.seek(size - 8 - length)
    try:
        return _Footer(file.read(length)).total()
    except (IndexError, ValueError, RecursionError):
        return 0


class _Footer:
    """Reads a footer from its beginning to its end; every field that begins is read or passed over before the next."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._place = 0

    def total(self) -> int:
        total = 0
        for number, kind in self._fields():
            if number == ROW_GROUPS and kind == LIST:
                total += sum(self._row_group() for _ in range(self._start_of_list()[0]))
            else:
                self._pass_over(kind)
        return total

    def _row_group(self) -> int:
        n_bytes = 0
        for number, kind in self._fields():
            if number == TOTAL_BYTES and kind in INTEGERS:
                n_bytes = self._integer()
            else:
                self._pass_over(kind)
        return n_bytes

    def _fields(self) -> Iterator[tuple[int, int]]:
        """The number and the type of every field of a structure."""
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._integer()
            yield number, kind

    def _pass_over(self, kind: int) -> None:
        if kind in INTEGERS:
            self._integer()
        elif kind in FIXED:
            for _ in range(FIXED[kind]):
                self._byte()
        elif kind == BINARY:
            length = self._varint()
            self._place += length
        elif kind in (LIST, SET):
            count, inner = self._start_of_list()
            for _ in range(count):
                self._pass_over(BYTE if inner in TRUTHS else inner)
        elif kind == STRUCT:
            for _, inner in self._fields():
                self._pass_over(inner)
        elif kind not in TRUTHS:
            # No footer has maps.
            raise ValueError("not a footer")

    def _start_of_list(self) -> tuple[int, int]:
        head = self._byte()
        count = head >> 4
        return (self._varint() if count == LONG else count), head & 15

    def _byte(self) -> int:
        self._place += 1
        return self._content[self._place - 1]

    def _varint(self) -> int:
        number, shift = 0, 0
        while shift < 64:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
        raise ValueError("not a number")

    def _integer(self) -> int:
        """An integer whose sign stands in its last bit."""
        number = self._varint()
        return (number >> 1) ^ -(number & 1)
