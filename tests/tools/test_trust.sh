#!/bin/bash
# The plots in docs/trust are small, well-formed XML with a title, axis labels and colours for dark pages, and
# docs/trust.md shows each of them. Its tables say what docs/trust/tables.csv says: a table under a comment
# "tables.csv: NAME" is compared cell by cell. With --update these tables are rewritten first.
set -u
cd "$ASSAY_SOURCE" || exit 1
python3 - "$@" <<'PYTHON'
import csv, glob, os, re, sys
import xml.etree.ElementTree as xml

failures = []
page = open("docs/trust.md", encoding="utf-8").read()
svg = "{http://www.w3.org/2000/svg}"

plots = glob.glob("docs/trust/*.svg")
if len(plots) < 3:
    failures.append("docs/trust has %d plots, not three or more" % len(plots))
for path in plots:
    if os.path.getsize(path) > 30000:
        failures.append(path + " is larger than 30 kB")
    if "](trust/%s)" % os.path.basename(path) not in page:
        failures.append("docs/trust.md does not show " + path)
    try:
        root = xml.parse(path).getroot()
    except xml.ParseError as error:
        failures.append("%s: %s" % (path, error))
        continue
    if not root.findtext(svg + "title"):
        failures.append(path + " has no title")
    if "prefers-color-scheme:dark" not in root.findtext(svg + "style", ""):
        failures.append(path + " has no colours for dark pages")
    labels = [text for text in root.iter(svg + "text") if text.get("class") == "middle" and re.search("[a-z]", text.text)]
    if len(labels) != 2:
        failures.append("%s has %d axis labels" % (path, len(labels)))

cells, texts = {}, {}
with open("docs/trust/tables.csv", encoding="utf-8") as file:
    for row in csv.DictReader(file):
        cells[row["table"], row["row"], row["column"]] = float(row["value"])
        texts.setdefault(row["table"], {}).setdefault(row["row"], {})[row["column"]] = row["value"]

sourced_table = r"<!-- tables\.csv: (.*?) -->\n\n((?:\|.*\n)+)"

def rewritten(match):
    corner, rows = match[2].split("|")[1].strip(), texts[match[1]]
    columns = list(next(iter(rows.values())))
    lines = [[corner] + columns] + [[name] + list(row.values()) for name, row in rows.items()]
    lines = ["| " + " | ".join(line) + " |" for line in lines]
    return "<!-- tables.csv: %s -->\n\n" % match[1] + "\n".join([lines[0], "|---|" + "--:|" * len(columns)] + lines[1:]) + "\n"

if sys.argv[1:] == ["--update"]:
    page = re.sub(sourced_table, rewritten, page)
    open("docs/trust.md", "w", encoding="utf-8").write(page)

compared = 0
for name, table in re.findall(sourced_table, page):
    lines = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
    for line in lines[2:]:
        for column, shown in zip(lines[0][1:], line[1:]):
            value = cells.get((name, line[0], column))
            half_a_digit = 0.51 * 10.0 ** -len(shown.partition(".")[2])
            if value is None or abs(value - float(shown)) > half_a_digit:
                failures.append("%s, %s, %s: the page says %s, tables.csv %s" % (name, line[0], column, shown, value))
            compared += 1
if compared < 100:
    failures.append("only %d cells of docs/trust.md have a source" % compared)

print("\n".join(failures) or "%d plots, %d cells" % (len(plots), compared))
sys.exit(bool(failures))
PYTHON
