#!/usr/bin/env python3
"""Runs the vectors of harvest-kit against an implementation: run.py [--kind KIND] DIR COMMAND [ARGUMENT...]

The command reads a line of JSON for each vector, {"kind", "input" (base64), "parameters"}, and writes a line for
each: {"verdict": "accept", "output": ...}, {"verdict": "reject"}, or {"verdict": "skip"} for a kind it does not know.
A vector that is valid or tolerated must be accepted with its output; an invalid one must be rejected.
"""
import base64
import json
import pathlib
import subprocess
import sys


def vectors_below(folder, kind):
    for file in sorted(pathlib.Path(folder).glob("**/vectors/*.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        if kind in (None, content["kind"]):
            for vector in content["vectors"]:
                yield content["kind"], vector


def request(kind, vector):
    data = base64.b64decode(vector["inputBase64"]) if "inputBase64" in vector else vector["input"].encode()
    line = {"kind": kind, "input": base64.b64encode(data).decode(), "parameters": vector.get("parameters", {})}
    return json.dumps(line) + "\n"


def problem(vector, answer):
    if vector["verdict"] == "invalid":
        return None if answer["verdict"] == "reject" else f"accepted, but breaks {vector['rule']}"
    if answer["verdict"] != "accept":
        return "rejected"
    return None if answer.get("output") == vector["output"] else f"gives {answer.get('output')}, not {vector['output']}"


def main(arguments):
    kind = arguments[1] if arguments[:1] == ["--kind"] else None
    folder, *command = arguments[2:] if kind else arguments
    vectors = list(vectors_below(folder, kind))
    lines = "".join(request(*vector) for vector in vectors)
    output = subprocess.run(command, input=lines, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    passed = failed = skipped = 0
    for (name, vector), line in zip(vectors, output.rstrip("\n").split("\n"), strict=True):
        answer = json.loads(line)
        found = None if answer["verdict"] == "skip" else problem(vector, answer)
        skipped += answer["verdict"] == "skip"
        passed += answer["verdict"] != "skip" and found is None
        if found:
            failed += 1
            print(f"FAIL {name}: {vector['name']}: {found} ({', '.join(vector['rules'])})")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
