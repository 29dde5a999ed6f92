"""A page on every key of params.yaml, from the types that check it."""

from pathlib import Path
from typing import Any

from iterlin_lab.config import Scale

HEAD = """# The keys of params.yaml

This page is written from the types that check the file. A key that is missing, unknown or out of its bounds is one line
that names it, before anything is computed. What each preset has, and why, stands in `params.yaml` itself.
"""
BOUNDS = {"minimum": "≥", "maximum": "≤", "exclusiveMinimum": ">", "exclusiveMaximum": "<", "minItems": "items ≥"}


def write(path: Path) -> None:
    """Write the page."""
    schema = Scale.model_json_schema()
    parts = [HEAD, *_section("scale", schema, schema["$defs"])]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(parts))


def _section(key: str, model: dict[str, Any], types: dict[str, Any]) -> list[str]:
    """The keys of a model, and below it the models that these have."""
    fields = {name: _resolved(field, types) for name, field in model["properties"].items()}
    plain = {name: field for name, field in fields.items() if not _models(field, types)}
    found = [f"\n## `{key}`\n", model.get("description", "").partition("\n\n")[0] + "\n"]
    if plain:
        found += ["| key | type | bounds |", "|---|---|---|"]
        found += [f"| `{name}` | {_type(field, types)} | {_bounds(field)} |" for name, field in plain.items()]
    for name, field in fields.items():
        for one in _models(field, types):
            kind = one["properties"].get("name", one["properties"].get("rule", {})).get("const")
            found += _section(f"{key}.{name}" + (f" ({kind})" if kind else ""), one, types)
    return found


def _resolved(field: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    return types[field["$ref"].rpartition("/")[2]] if "$ref" in field else field


def _models(field: dict[str, Any], types: dict[str, Any]) -> list[dict[str, Any]]:
    """The models that a field may have."""
    choices = [_resolved(choice, types) for choice in field.get("oneOf", field.get("anyOf", [field]))]
    return [choice for choice in choices if "properties" in choice]


def _type(field: dict[str, Any], types: dict[str, Any]) -> str:
    if "const" in field or "enum" in field:
        return " or ".join(f"`{value}`" for value in field.get("enum", [field.get("const")]))
    if choices := field.get("anyOf", field.get("oneOf")):
        return " or ".join(_type(_resolved(choice, types), types) for choice in choices)
    if field["type"] == "array" and "items" in field:
        return f"list of {_type(_resolved(field['items'], types), types)}"
    return field["type"]


def _bounds(field: dict[str, Any]) -> str:
    found = [f"{sign} {field[name]}" for name, sign in BOUNDS.items() if name in field]
    return ", ".join(found) if found else ", ".join(filter(None, map(_bounds, field.get("anyOf", []))))
