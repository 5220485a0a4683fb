"""Marks the thread that decodes a trace: constructors leave checks to the reader meanwhile.

The decoder has checked the types and bounds of fields already. What types cannot say is checked in
one loop over the steps (`step_lists.usable`), which costs a tenth of asking each constructor.
"""

from __future__ import annotations

from threading import get_ident
from typing import TypeVar

from msgspec.json import Decoder

__all__ = ["READER", "decoded", "get_ident"]


class Reader:
    """Which thread decodes; 0 for none.

    If two threads decode at once, one of them gets objects that were checked twice. That is slower,
    and gives the same.
    """

    __slots__ = ("thread",)

    def __init__(self) -> None:
        self.thread = 0


READER = Reader()
Read = TypeVar("Read")


def decoded(decoder: Decoder[Read], text: bytes | str) -> Read:
    """What the decoder reads, without the checks of constructors."""
    READER.thread = get_ident()
    try:
        return decoder.decode(text)
    finally:
        READER.thread = 0
