"""What psql has written, by sections, and the errors in it."""

import json
import re

ERROR = re.compile(r"^psql:[^\n]*?:\d+: (ERROR|FATAL|PANIC|WARNING):  (\w{5}): (.*?)(?=^psql:|^@|^\{|\Z)", re.S | re.M)
FIELDS = re.compile(r"^(DETAIL|HINT|CONTEXT|LOCATION|QUERY|SCHEMA NAME|TABLE NAME|CONSTRAINT NAME|COLUMN NAME|DATATYPE NAME|LINE \d+):\s+", re.M)


class ServerError:
    """An error as psql shows it in full. One of the extension has no place in the server's source."""

    def __init__(self, code, text):
        parts = FIELDS.split(text)
        self.code, self.message = code, parts[0].strip()
        fields = dict(zip(parts[1::2], (p.strip() for p in parts[2::2])))
        self.detail, self.hint = fields.get("DETAIL", ""), fields.get("HINT", "")
        self.context, self.location = fields.get("CONTEXT", ""), fields.get("LOCATION", "")

    def is_own(self):
        return not self.location

    def is_of_trigger(self):
        return "PL/pgSQL function" in self.context

    def __str__(self):
        statement = " ".join(self.context.split())[:160]
        return f"{self.code}: {self.message} | {self.detail} | {self.hint} | {self.location} | {statement}"


def errors(text):
    return [ServerError(code, rest) for level, code, rest in ERROR.findall(text) if level != "WARNING"]


def objects(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def sections(text):
    """Each section's text under its name; of those that repeat, a list in order."""
    found, name, lines = [], "start", []
    for line in text.splitlines():
        if line.startswith("@"):
            found.append((name, "\n".join(lines)))
            name, lines = line[1:].strip(), []
        else:
            lines.append(line)
    found.append((name, "\n".join(lines)))
    return found
