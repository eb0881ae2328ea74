"""run.py [--update] PAGE FOLDER: runs the blocks of a page of docs/ in a folder and compares what they print with the ```text blocks behind them.

```sql blocks go to one psql each, ```sh blocks to one bash each, and ```python blocks all to this interpreter, one after another. A block whose first
line is "# file NAME" (or "-- file NAME") becomes that file, and is not run. <!-- volatile --> before a text block: its content is not compared. A block of SQL or sh without a text
block must succeed. --update writes the output into the page. What stands below the heading that the variable RECIPES_WITHOUT names is left alone.
"""

import contextlib
import io
import os
import re
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

FENCE = re.compile(
    r"^```(?P<kind>\w+)\n(?P<code>.*?)^```\n(?:\n*(?P<volatile><!-- volatile -->\n)?\n*^```text\n(?P<text>.*?)^```\n)?", re.M | re.S
)
names = {"__name__": "page"}


def run(command, code, folder):
    done = subprocess.run(command, input=code, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout, done.returncode == 0


def run_python(code):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        try:
            exec(compile(code, "page", "exec"), names)
        except Exception:
            return out.getvalue() + traceback.format_exc(), False
    return out.getvalue(), True


def trimmed(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def run_block(kind, code, folder):
    """What it prints, and whether it did what it should. `None` if it is not run."""
    first, _, rest = code.partition("\n")
    name = re.fullmatch(r"(?:#|--) file (\S+)", first)
    if name:
        file = folder / name[1]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(rest)
        return None
    if kind == "sql":
        return run(["psql", "-X"], code, folder)
    if kind == "sh":
        return run(["bash", "-euo", "pipefail"], code, folder)
    if kind == "python":
        return run_python(code)
    return None


def main():
    update = sys.argv[1] == "--update"
    page, folder = (Path(argument).resolve() for argument in sys.argv[-2:])
    text = page.read_text()
    blocks = wrong = 0
    parts, end = [], 0
    last = text.find(f"\n## {os.environ['RECIPES_WITHOUT']}\n") if os.environ.get("RECIPES_WITHOUT") else -1
    for found in FENCE.finditer(text):
        if 0 <= last < found.start():
            break
        parts.append(text[end : found.start()])
        end = found.end()
        parts.append(found[0])
        done = run_block(found["kind"], found["code"], folder)
        if done is None:
            continue
        blocks += 1
        line = text.count("\n", 0, found.start()) + 1
        output, ok = done
        output = trimmed(output)
        expected = found["text"]
        if found["kind"] == "sql" and re.search(r"^ERROR: ", output, re.M):
            ok = False
        if expected is None:
            if not ok or (found["kind"] == "python" and output):
                wrong += 1
                print(f"{page.name}:{line}: prints or fails, and has no output on the page\n{output}")
            continue
        if update:
            shown = f"{output}\n" if output else ""
            start = found.start("text") - found.start()
            parts[-1] = found[0][:start] + shown + found[0][found.end("text") - found.start() :]
            if not ok and "ERROR" not in expected:
                print(f"{page.name}:{line}: fails; look at what was written")
        elif not found["volatile"] and trimmed(expected) != output:
            wrong += 1
            print(f"{page.name}:{line}: the output differs\n--- page\n{trimmed(expected)}\n--- output\n{output}")
        elif not ok and not re.search(r"ERROR", expected):
            wrong += 1
            print(f"{page.name}:{line}: fails\n{output}")
    parts.append(text[end:])
    if update:
        page.write_text("".join(parts))
    print(f"{page.name}: {blocks} blocks, {wrong} wrong")
    sys.exit(wrong > 0)


warnings.simplefilter("default")
sys.path.insert(0, sys.argv[-1])
os.chdir(sys.argv[-1])
main()
