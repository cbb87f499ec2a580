#!/usr/bin/python3
"""Validate run records against docs/record.schema.json:

    check_record_schema.py RECORD.json…

This check is stricter than the schema: a key that the schema does not describe is an error here, so that
nothing is ever written undocumented. The exit status is 0, 1 (a record does not conform) or 77 (Debian's
python3-jsonschema is missing)."""
import copy
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: python3-jsonschema is not installed")
    sys.exit(77)

SCHEMA = pathlib.Path(__file__).resolve().parents[2] / "docs" / "record.schema.json"


def closed(schema):
    """The schema with every described object closed to further keys."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: closed(part) for key, part in schema.items()}
    if isinstance(result.get("properties"), dict) and "additionalProperties" not in result:
        result["additionalProperties"] = False
    return result


def undescribed(schema, path="$"):
    """Properties without a description, of their own or of what they refer to."""
    for key, part in schema.get("properties", {}).items():
        target = part
        if "description" not in part and "$ref" in part:
            target = ROOT["$defs"][part["$ref"].rsplit("/", 1)[1]]
        if "description" not in target:
            yield f"{path}.{key}"
        yield from undescribed(part, f"{path}.{key}")
        yield from undescribed(part.get("items", {}), f"{path}.{key}[]")


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def problems(validator, path):
    try:
        record = json.loads(path.read_bytes(), parse_constant=no_constant)
    except ValueError as error:
        return [str(error)]
    return [f"{error.json_path}: {error.message}"[:300] for error in validator.iter_errors(record)]


ROOT = json.loads(SCHEMA.read_text(encoding="utf-8"))
jsonschema.Draft202012Validator.check_schema(ROOT)


def main(paths):
    validator = jsonschema.Draft202012Validator(closed(copy.deepcopy(ROOT)))
    failures = [f"{SCHEMA.name}: {place}: no description" for place in undescribed(ROOT)]
    for path in paths:
        failures += [f"{path}: {problem}" for problem in problems(validator, pathlib.Path(path))]
    print("\n".join(failures) or f"{len(paths)} records conform")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: check_record_schema.py RECORD.json…")
    sys.exit(main(sys.argv[1:]))
