# Records as a page. tests/web looks at pages in a browser; this is about the file.
if ! "$ASSAY" doctor --json - | grep -A3 '"pages"' | grep -q '"ok"'; then
    show report no-such.json --html page.html | sed "s/ built .*/ built without pages/"
    echo "this assay was built without pages"
    exit 77
fi
python3 - <<'PYTHON'
import json
def record(**more):
    return {"schema": "assay-record", "version": 2, "kind": "monitor", **more}
def operation(name, parent=None):
    return {"name": name, "parent": parent, "count": 1, "total_seconds": 1.0, "self_seconds": 1.0,
            "samples_dropped": 0, "buckets": [[1.0, 1]], "samples_seconds": []}
evil = "</script><script>alert(1)</script><!-- & \u2028 \u0007 \u202e"
json.dump(record(name=evil, total_seconds=1.0, operations=[operation(evil), operation("x" * 131072, 0)]), open("evil.json", "w"))
json.dump(record(total_seconds=1.0, operations=[operation("x" * 1000000)]), open("huge.json", "w"))
json.dump(record(), open("empty.json", "w"))
json.dump({"schema": "assay-record", "version": 1, "kind": "monitor", "machine": {"cores": "2"}, "total_seconds": 1.0,
           "operations": [operation("step")]}, open("old.json", "w"))
json.dump({"results": [{"command": "sleep 1", "times": [1.0, 1.1, 1.2]}]}, open("hyperfine.json", "w"))
json.dump({"schema": "assay-record", "version": 99, "kind": "monitor"}, open("newer.json", "w"))
PYTHON
# What a page holds, and that nothing else in it is markup.
cat >look.py <<'PYTHON'
import base64, hashlib, html.parser, json, re, sys, zlib
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.parts, self.policy, self.inside = [], "", False
    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.inside = tag in ("script", "style")
        if attributes.get("http-equiv") == "Content-Security-Policy":
            self.policy = attributes["content"]
        if tag in ("script", "style"):
            self.parts.append([tag, attributes, ""])
    def handle_data(self, data):
        if self.inside:
            self.parts[-1][2] += data
    def handle_endtag(self, tag):
        self.inside = False
text = open(sys.argv[1], encoding="utf-8").read()
page = Page()
page.feed(text)
scripts = [it for it in page.parts if it[0] == "script" and "type" not in it[1]]
styles = [it for it in page.parts if it[0] == "style"]
data = [it for it in page.parts if it[1].get("id") == "data"]
print(len(scripts), "script,", len(styles), "style,", len(data), "block of data")
for tag, _, content in scripts + styles:
    digest = base64.b64encode(hashlib.sha256(content.strip("\n").encode()).digest()).decode()
    print(tag, "is named by the policy" if f"'sha256-{digest}'" in page.policy else "IS NOT NAMED BY THE POLICY")
print(re.sub("'sha256-[^']*'", "HASH", page.policy))
content = data[0][2]
if data[0][1]["type"] == "application/octet-stream":
    content = zlib.decompress(base64.b64decode(content)).decode()
records = json.loads(content)["records"]
for it in records:
    record = json.load(open(it["about"]["origin"]))
    print(it["about"]["origin"], "has its operations" if [o["name"] for o in it["record"]["operations"]] ==
          [re.sub("[\u2028\u0007\u202e]", "?", o["name"]) for o in record.get("operations", [])] else "LACKS OPERATIONS", len(it["record"].get("subjects", [])), "subjects")
print("http" in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "") and "AN ADDRESS" or "no address")
PYTHON
for name in evil old hyperfine; do
    show report $name.json --html page.html
    python3 look.py page.html
done
show report old.json hyperfine.json --html two.html
python3 look.py two.html | tail -n 3
"$ASSAY" report old.json --html - | head -n 1
# What is there stays as it was where a page cannot be made.
cp page.html before.html
show report empty.json --html page.html
show report huge.json --html page.html
show report newer.json --html page.html
show report look.py --html page.html
show report no-such.json --html page.html
cmp page.html before.html && echo "the page is as it was"
show report old.json --html no/such/folder/page.html
show report old.json --html /dev/full
show report old.json --html same --json same
ls | grep '\.html\.' || echo 'and nothing half-written beside it'
