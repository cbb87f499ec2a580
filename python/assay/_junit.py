"""Failures that are known only after the last test, put into the JUnit XML that pytest has written."""
import os
import re
import xml.etree.ElementTree as ElementTree


def _address(nodeid):
    """(classname, name) of a test, as pytest writes them; a prefix of --junitprefix stands before the first."""
    path, bracket, parameters = nodeid.partition("[")
    names = path.split("::")
    names[0] = re.sub(r"\.py$", "", names[0].replace("/", "."))
    names[-1] += bracket + parameters
    return ".".join(names[:-1]), names[-1]


def _is(case, address):
    classname, name = address
    found = case.get("classname", "")
    return case.get("name") == name and (found == classname or found.endswith("." + classname))


def _plain(text):
    """Without the characters that XML cannot have."""
    return re.sub("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)


def add_failures(path, failures):
    """failures: {nodeid: (message, text)}. Tests that the file does not have, or that failed already, are left alone."""
    if not failures or not os.path.isfile(path):
        return
    tree = ElementTree.parse(path)
    for suite in tree.iter("testsuite"):
        for nodeid, (message, text) in failures.items():
            case = next((case for case in suite.iter("testcase") if _is(case, _address(nodeid))), None)
            if case is None or case.find("failure") is not None:
                continue
            failure = ElementTree.Element("failure", message=_plain(message))
            failure.text = _plain(text)
            case.insert(0, failure)
            suite.set("failures", str(int(suite.get("failures", "0")) + 1))
    tree.write(path, encoding="utf-8", xml_declaration=True)
