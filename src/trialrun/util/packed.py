"""Many short byte strings in one piece of memory: an object each takes several times as much."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator


class Packed:
    """Byte strings, together at most 4 GB, that are only added and read: 4 bytes each beside."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._ends = array("I")

    def __len__(self) -> int:
        return len(self._ends)

    def append(self, item: bytes) -> None:
        """Add one at the end."""
        self._data += item
        self._ends.append(len(self._data))

    def __getitem__(self, index: int) -> bytes:
        if not 0 <= index < len(self._ends):
            raise IndexError(index)
        start = self._ends[index - 1] if index else 0
        return bytes(self._data[start : self._ends[index]])

    def __iter__(self) -> Iterator[bytes]:
        return (self[index] for index in range(len(self)))


class PackedTexts:
    """The same for texts."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._packed = Packed()
        for text in texts:
            self.append(text)

    def __len__(self) -> int:
        return len(self._packed)

    def append(self, text: str) -> None:
        """Add one at the end."""
        self._packed.append(text.encode("utf-8", "surrogatepass"))

    def __getitem__(self, index: int) -> str:
        return self._packed[index].decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return (self[index] for index in range(len(self)))
