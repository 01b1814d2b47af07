"""What docs/*.schema.json promise: today's documents hold what they list, and later minor versions may hold more."""
import json

from support import SOURCE

try:
    import jsonschema
except ImportError:
    jsonschema = None


def schema(name):
    """docs/NAME.schema.json, which is a schema."""
    read = json.loads((SOURCE / "docs" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(read)
    return read


def strict(value):
    """A schema without what later minor versions may add: members, and words where it gives examples."""
    if isinstance(value, list):
        return [strict(item) for item in value]
    if not isinstance(value, dict):
        return value
    closed = {key: strict(item) for key, item in value.items()}
    if isinstance(value.get("properties"), dict):
        closed.setdefault("additionalProperties", False)
    if isinstance(value.get("examples"), list):
        closed["enum"] = closed.pop("examples")
    return closed


def errors(against, document):
    found = jsonschema.Draft202012Validator(against).iter_errors(document)
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:200]}" for e in found][:5]


def add_members(value):
    """A member that nobody knows, in every object but the map of tables."""
    for item in list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ():
        add_members(item)
    if isinstance(value, dict) and not is_map(value):
        value["added_later"] = {"more": 1}


def is_map(value):
    return bool(value) and all(isinstance(item, dict) and "columns" in item and "rows" in item for item in value.values())


def check(test, name, document):
    """Today's document holds what schema NAME lists and nothing else; one of a later minor version, which adds members, is taken."""
    if not jsonschema:
        test.skipTest("no python3-jsonschema")
    published, later = schema(name), json.loads(json.dumps(document))
    test.assertEqual(errors(strict(published), document), [])
    add_members(later)
    test.assertEqual(errors(published, later), [])
    test.assertTrue(errors(strict(published), later))
