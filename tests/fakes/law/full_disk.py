"""A file on a disk that has no room left."""

from __future__ import annotations

import errno
import io
import os


class FullDisk(io.RawIOBase):
    """Takes the first bytes, if any, and refuses the rest as a full disk does."""

    def __init__(self, room: int = 0, file: io.RawIOBase | io.BufferedIOBase | None = None) -> None:
        super().__init__()
        self.room, self.file = room, file

    def writable(self) -> bool:
        return True

    def write(self, content: object) -> int:
        taken = bytes(content)[: self.room]  # type: ignore[call-overload]
        self.room -= len(taken)
        if self.file is not None:
            self.file.write(taken)
            self.file.flush()
        if len(taken) < len(content):  # type: ignore[arg-type]
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return len(taken)

    def close(self) -> None:
        if self.file is not None:
            self.file.close()
        super().close()
