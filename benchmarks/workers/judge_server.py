"""A judge on loopback with the chat completions API that answers each call after a delay.

Prints its address, serves until its stdin is closed, then prints how many calls it received.
"""

import asyncio
import json
import sys

DELAY = float(sys.argv[1])
REPLY = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": "judge",
        "choices": [
            {
                "index": 0,
                "finish_reason": "tool_calls",
                "message": {
                    "role": "assistant",
                    "content": None,
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {
                                "name": "give_verdict",
                                "arguments": '{"rationale": "it does", "score": 5}',
                            },
                        }
                    ],
                },
            }
        ],
        "usage": {"prompt_tokens": 400, "completion_tokens": 30, "total_tokens": 430},
    }
).encode()
HEAD = (
    f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(REPLY)}\r\n\r\n"
).encode()
calls = 0


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    global calls
    while True:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            break
        lines = head.decode().lower().split("\r\n")
        size = next(int(line[15:]) for line in lines if line.startswith("content-length:"))
        await reader.readexactly(size)
        calls += 1
        await asyncio.sleep(DELAY)
        writer.write(HEAD + REPLY)
    writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=256)
    port = server.sockets[0].getsockname()[1]
    print(f"http://127.0.0.1:{port}/v1", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    print(calls, flush=True)


asyncio.run(main())
