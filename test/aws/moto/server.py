"""Serves moto on a free port, prints the port, and ends when its standard input does.

Whoever started it holds the other end of that pipe, so it ends with them, also when they are killed.
"""

import os
import sys

from moto.server import ThreadedMotoServer

server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
sys.stdin.buffer.read()
os._exit(0)
