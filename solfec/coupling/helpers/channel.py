"""Messages between Solfec and a helper process: dictionaries of arrays and plain values, as a JSON header and raw bytes.

Pickles would not do: those of numpy 2 cannot be read by numpy 1, which the helper's Python may have.
"""

from __future__ import annotations

import faulthandler
import json
import struct
import sys
import traceback

import numpy as np

LENGTHS = struct.Struct("<QQ")  # of the header and of the bytes behind it


def encode(message: dict) -> bytes:
    """Return a message as bytes."""
    header, parts, start = {}, [], 0
    for key, value in message.items():
        if isinstance(value, np.ndarray):
            data = np.ascontiguousarray(value)
            header[key] = ["array", data.dtype.str, list(data.shape), start]
            parts.append(data.tobytes())
            start += data.nbytes
        else:
            header[key] = ["value", value]
    text = json.dumps(header).encode()
    return LENGTHS.pack(len(text), start) + text + b"".join(parts)


def decode(text: bytes, data: bytes) -> dict:
    """Return the message of a header and the bytes behind it."""
    message = {}
    for key, entry in json.loads(text).items():
        if entry[0] == "value":
            message[key] = entry[1]
        else:
            kind, shape, start = np.dtype(entry[1]), entry[2], entry[3]
            count = int(np.prod(shape, dtype=np.int64))
            message[key] = np.frombuffer(data, kind, count, start).reshape(shape).copy()
    return message


def serve(requests: int, answers: int, commands: dict) -> None:
    """Answer requests until the other end closes.

    Parameters
    ----------
    requests, answers : int
        File descriptors.
    commands : dict
        Functions by the name in a request's 'do'; they get the rest of the request and a function `beat`, which says that the work goes on.
    """
    faulthandler.enable()  # a crash in the other code tells where
    with open(requests, "rb") as incoming, open(answers, "wb") as outgoing:

        def send(message: dict) -> None:
            outgoing.write(encode(message))
            outgoing.flush()

        send({"ready": True})
        while len(lengths := incoming.read(LENGTHS.size)) == LENGTHS.size:
            text, data = LENGTHS.unpack(lengths)
            request = decode(incoming.read(text), incoming.read(data))
            try:
                answer = commands[request.pop("do")](request, lambda: send({"beat": True}))
            except ImportError as error:
                answer = {"missing": str(error)}
            except Exception as error:
                traceback.print_exc()
                answer = {"error": f"{type(error).__name__}: {error}"}
            sys.stdout.flush()
            send(answer)
