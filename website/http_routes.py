"""Reference page of the service's routes, from the description that the service itself serves."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from subadjacent.service.app import with_routes

Schema = Mapping[str, Any]


def description() -> Schema:
    """The service's OpenAPI description; nothing is started for it."""

    @asynccontextmanager
    async def nothing(_app: FastAPI) -> AsyncIterator[None]:
        yield

    return with_routes(nothing).openapi()


def page(openapi: Schema) -> str:
    """Every route with what it takes and gives, then every record."""
    lines = [
        "# HTTP",
        "",
        (
            f"{openapi['info']['summary']} [How to use it](../service.md). The service has this "
            "description at `/openapi.json`."
        ),
        "",
    ]
    problems = _shared_problems(openapi)
    for path, operations in openapi["paths"].items():
        for method, operation in operations.items():
            lines += _route(method.upper(), path, operation, problems)
    lines += ["## Problems", "", "Any route may answer with one of these."]
    lines += ["", *_answers(problems), ""]
    lines += ["## Records", ""]
    for name, schema in sorted(openapi["components"]["schemas"].items()):
        lines += [f"### {name}", "", *_paragraphs(schema), *_fields(schema), ""]
    return "\n".join(lines)


def _shared_problems(openapi: Schema) -> dict[str, Any]:
    every = [one["responses"] for part in openapi["paths"].values() for one in part.values()]
    return {
        status: response
        for status, response in every[0].items()
        if int(status) >= 400 and sum(one.get(status) == response for one in every) > len(every) / 2
    }


def _route(method: str, path: str, operation: Schema, problems: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"## {method} {path}", "", *_paragraphs(operation))
    parameters = operation.get("parameters", [])
    if parameters:
        yield from ("| parameter | in | type | meaning |", "|---|---|---|---|")
        for one in parameters:
            about = one.get("description", "") or one["schema"].get("description", "")
            need = "" if one.get("required") else _default(one["schema"])
            what = f"{kind(one['schema'])}{need}"
            yield f"| `{one['name']}` | {one['in']} | {what} | {_cell(about)} |"
        yield ""
    for media, content in operation.get("requestBody", {}).get("content", {}).items():
        takes = content.get("schema", {})
        yield from (f"Takes `{media}`: {kind(takes)}", "")
        if "example" in content:
            example = content["example"]
            text = example if isinstance(example, str) else json.dumps(example, indent=2)
            yield from ("```text", text.strip("\n"), "```", "")
    responses = operation["responses"].items()
    yield from (*_answers({key: one for key, one in responses if problems.get(key) != one}), "")


def _answers(responses: Mapping[str, Any]) -> Iterator[str]:
    yield from ("| answer | what it means, or holds |", "|---|---|")
    for status, response in responses.items():
        gives = [
            kind(one["schema"]) for one in response.get("content", {}).values() if "schema" in one
        ]
        what = " or ".join(dict.fromkeys(filter(None, gives)))
        # what the framework writes where nobody wrote anything
        about = response["description"].replace("Successful Response", "")
        yield f"| {status} | {' '.join(filter(None, (_cell(about), what)))} |"


def _fields(schema: Schema) -> Iterator[str]:
    required = schema.get("required", [])
    if "properties" not in schema:
        return
    yield from ("| field | type | meaning |", "|---|---|---|")
    for name, one in schema["properties"].items():
        default = "" if name in required else _default(one)
        yield f"| `{name}` | {kind(one)}{default} | {_cell(one.get('description', ''))} |"


def kind(schema: Schema) -> str:
    """What a value is, in words; a record is a link to it."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(kind(one) for one in schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(one)}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {kind(schema.get('items', {}))}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {kind(schema['additionalProperties'])}"
    return str(schema.get("format") or schema.get("type", "anything"))


def _default(schema: Schema) -> str:
    return f", else `{json.dumps(schema['default'])}`" if "default" in schema else ", if wanted"


def _paragraphs(described: Schema) -> list[str]:
    text = described.get("description", "").replace("``", "`")
    return [text, ""] if text else []


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("``", "`")
