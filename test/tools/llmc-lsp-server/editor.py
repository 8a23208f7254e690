#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An editor of three messages: initialises the server, opens a file with an error in it, and says goodbye.

usage: editor.py SERVER
"""

import json
import subprocess
import sys

FILE = """func.func @f(%x: tensor<?x64xf32>, %y: tensor<?x32xf32>) {
  "llm.add"(%x, %y) : (tensor<?x64xf32>, tensor<?x32xf32>) -> tensor<?x64xf32>
  return
}
"""


class Editor:
    def __init__(self, server):
        self.server = subprocess.Popen([server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def send(self, method, params, number=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        body = json.dumps(message).encode()
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.server.stdin.flush()

    def receive(self, wanted):
        """The next message that `wanted` accepts."""
        while True:
            length = 0
            while (line := self.server.stdout.readline().strip()):
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            if length == 0:
                sys.exit("the server closed its output")
            message = json.loads(self.server.stdout.read(length))
            if wanted(message):
                return message


def main():
    editor = Editor(sys.argv[1])
    editor.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
    print("capabilities:", json.dumps(editor.receive(lambda m: m.get("id") == 1)["result"]["capabilities"]))
    editor.send("initialized", {})
    document = {"uri": "file:///wrong.mlir", "languageId": "mlir", "version": 1, "text": FILE}
    editor.send("textDocument/didOpen", {"textDocument": document})
    published = editor.receive(lambda m: m.get("method") == "textDocument/publishDiagnostics")
    for diagnostic in published["params"]["diagnostics"]:
        print("diagnostic:", diagnostic["message"])
    editor.send("shutdown", None, 2)
    editor.receive(lambda m: m.get("id") == 2)
    editor.send("exit", None)
    print("exit:", editor.server.wait())


if __name__ == "__main__":
    main()
