"""Adds failures that are known only after the last test to the JUnit XML file that pytest has written."""
import os
import re
import xml.etree.ElementTree as ElementTree


def _address(nodeid):
    """(classname, name) of a test, as pytest writes them. With --junitprefix the classname in the file has a prefix."""
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
    """The text with '?' for the characters that XML does not allow."""
    return re.sub("[^\t\n -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "?", text)


def add_failures(path, failures):
    """Add failures, given as {nodeid: (message, text)}, to the file. Tests that are not in the file, or that failed already, are left alone."""
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
