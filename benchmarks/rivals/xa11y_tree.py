"""Reads apps' trees with xa11y, for benchmarks/tree.py: a pid a line on stdin, an answer as a JSON line on stdout.

Runs on the Python of a virtual environment that has xa11y. The seconds are those of finding the app and reading its
whole tree with each element's role, name and value, which is what ``tree()`` returns.
"""

import json
import sys
import time

import xa11y

for line in sys.stdin:
    began = time.perf_counter()
    top = xa11y.App.by_pid(int(line)).tree()
    seconds = time.perf_counter() - began
    nodes = []
    waiting = [top]
    while waiting:
        node = waiting.pop()
        nodes.append([node["name"], node["value"]])
        waiting.extend(reversed(node["children"]))
    print(json.dumps({"seconds": seconds, "nodes": nodes}), flush=True)
