"""The socket between a worker and the run, from the side of the worker."""

from __future__ import annotations

import os
import socket
import threading
from typing import Any

from trialrun.agents.running.worker_protocol import LENGTH, decoded, encoded

Message = dict[str, Any]

_TOO_LONG = {
    "failure": "the agent's answer cannot be written: it has a number of more than 64 bits"
}


class Channel:
    """The socket to the run, which closes it at its end."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        connection.set_inheritable(False)  # not for programs that an agent starts
        self.owner = os.getpid()
        self._sending = threading.Lock()
        self._received = bytearray()

    def send(self, *messages: Message) -> None:
        """Send messages. A forked child exits: its messages would look like those of its parent."""
        if os.getpid() != self.owner:
            os._exit(0)
        self.send_bytes(b"".join(map(frame, messages)))

    def send_bytes(self, data: bytes) -> None:
        """Send messages that are encoded already."""
        with self._sending:
            self.connection.sendall(data)

    def receive(self) -> list[Message]:
        """The messages that have arrived, at least one; empty at the end of the run."""
        messages: list[Message] = []
        while not messages:
            try:
                chunk = self.connection.recv(1 << 18)
            except ConnectionError:
                return []
            if not chunk:
                return []
            self._received += chunk
            done = 0
            while (size := _message_size_at(self._received, done)) is not None:
                start = done + LENGTH.size
                done = start + size
                messages.append(decoded(bytes(self._received[start:done])))
            del self._received[:done]
        return messages


def _message_size_at(received: bytearray, start: int) -> int | None:
    """The size of the message at `start`; None if it is not complete yet."""
    if len(received) < start + LENGTH.size:
        return None
    size: int = LENGTH.unpack_from(received, start)[0]
    return size if len(received) >= start + LENGTH.size + size else None


def frame(message: Message) -> bytes:
    """The message as bytes; an answer that cannot be encoded becomes a failure."""
    try:
        return encoded(message)
    except OverflowError:  # MessagePack has 64-bit integers, Python's are unlimited
        return encoded(
            {key: value for key, value in message.items() if key != "answer"} | _TOO_LONG
        )
