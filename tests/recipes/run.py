"""run.py [--update] PAGE FOLDER: runs the blocks of a page of docs/ in a folder and compares what they print with the ```text blocks behind them.

```sql blocks go to one psql each, ```sh blocks to one bash each, and ```python blocks all to this interpreter, one after another. All ```js blocks of a page are one
module, and all ```java blocks the statements of one method, which waits before each block until those before it on the page have been run. A block whose first
line is a comment "file NAME", such as "# file settings.py", becomes that file, and is not run. <!-- volatile --> before a text block: its content is not compared. A block of SQL or sh without a text
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


class Program:
    """Blocks of a language that are compiled together. The program writes MARK and waits for a line before each block."""

    MARK = b"\0"

    def __init__(self, kind, blocks, folder):
        command = {"js": self.js, "java": self.java}[kind](blocks, folder)
        self.process = subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.before = self.read()

    @staticmethod
    def js(blocks, folder):
        wait = "process.stdout.write('\\0'), process.getBuiltinModule('node:fs').readSync(0, Buffer.alloc(1));\n"
        (folder / "page.mjs").write_text("".join(wait + block for block in blocks))
        return ["node", "page.mjs"]

    @staticmethod
    def java(blocks, folder):
        imports = re.compile(r"^import .*;\n", re.M)
        wait = 'System.out.print("\\0"); System.out.flush(); System.in.read();\n'
        lines = "".join(sorted({line for block in blocks for line in imports.findall(block)}))
        code = "".join(wait + imports.sub("", block) for block in blocks)
        (folder / "Page.java").write_text(f"{lines}class Page {{\npublic static void main(String[] args) throws Exception {{\n{code}}}\n}}\n")
        # Wrong code is an output, too, and that of the program's first block.
        compiled = "ecj -17 -proc:none -nowarn -encoding UTF-8 -cp .:$CLASSPATH *.java"
        return ["sh", "-c", f"{compiled} && exec java -Dfile.encoding=UTF-8 -Xshare:auto -XX:TieredStopAtLevel=1 -cp .:$CLASSPATH Page"]

    def read(self):
        """What it writes up to the next mark, or to its end."""
        output = b""
        while (byte := self.process.stdout.read(1)) not in (b"", self.MARK):
            output += byte
        self.runs = byte == self.MARK
        return output.decode()

    def block(self):
        if not self.runs:
            output, self.before = self.before, "the program has ended before this block"
            return output, False
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()
        output = self.read()
        if not self.runs:
            self.process.communicate()
        return output, self.runs or self.process.returncode == 0


def trimmed(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def file_name(code):
    return re.match(r"(?:#|--|//|<!--) file (\S+)(?: -->)?\n", code)


def write_file(code, folder):
    """True if the block is a file."""
    name = file_name(code)
    if name:
        file = folder / name[1]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code[name.end() :])
    return name is not None


def run_block(kind, code, folder, programs):
    """What it prints, and whether it did what it should. `None` if it is not run. `programs` are those that run, and the blocks of those to come."""
    if write_file(code, folder):
        return None
    if kind == "sql":
        return run(["psql", "-X"], code, folder)
    if kind == "sh":
        return run(["bash", "-euo", "pipefail"], code, folder)
    if kind == "python":
        return run_python(code)
    if kind in programs:
        if isinstance(programs[kind], list):
            # It is compiled together with the files of its language, wherever they stand.
            programs[kind] = Program(kind, [code for code in programs[kind] if not write_file(code, folder)], folder)
        return programs[kind].block()
    return None


def main():
    update = sys.argv[1] == "--update"
    page, folder = (Path(argument).resolve() for argument in sys.argv[-2:])
    text = page.read_text()
    blocks = wrong = 0
    parts, end = [], 0
    last = text.find(f"\n## {os.environ['RECIPES_WITHOUT']}\n") if os.environ.get("RECIPES_WITHOUT") else -1
    fences = [found for found in FENCE.finditer(text) if last < 0 or found.start() < last]
    programs = {kind: [found["code"] for found in fences if found["kind"] == kind] for kind in ("js", "java")}
    for found in fences:
        parts.append(text[end : found.start()])
        end = found.end()
        parts.append(found[0])
        done = run_block(found["kind"], found["code"], folder, programs)
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
            if not ok or (found["kind"] in ("python", "js", "java") and output):
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
