"""Reference pages of what people type and call: suite keys, command line, Python names, the report's fields."""

from __future__ import annotations

import enum
import inspect
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer

import ragval_pipeline
from ragval_pipeline.cli.app import app
from ragval_pipeline.suite.model import Suite
from ragval_pipeline.suite.problems import public_fields
from ragval_pipeline.validation.report import SCHEMA_VERSION, ValidationReport

FOLDER = Path(__file__).parent
NOTE = "<!-- Written by `python -m docs.generate` from the code. -->\n"


def suite_page() -> str:
    """The page of the suite file: keys, meanings and defaults from the model, the last column by hand."""
    page = (FOLDER / "reference" / "suite.md").read_text(encoding="utf-8")
    cells = re.findall(r"^\| `([\w.]+)` \|.*\| ([^|]*) \|$", page, re.MULTILINE)
    by_hand = {key: text for key, text in cells if not text.startswith("`")}
    block = re.compile(r"(<!-- keys: generated -->\n).*?(<!-- end -->)", re.DOTALL)
    tables = "\n".join(_suite_tables(by_hand))
    return block.sub(lambda marks: f"{marks[1]}{tables}\n{marks[2]}", page)


def _suite_tables(by_hand: Mapping[str, str]) -> Iterator[str]:
    sections = {name: model for name, field in Suite.model_fields.items() if (model := _section_of(field.annotation))}
    yield from _keys("At the top", "", {k: f for k, f in Suite.model_fields.items() if k not in sections}, by_hand)
    for name, model in sections.items():
        yield from _keys(name, Suite.model_fields[name].description or "", public_fields(model), by_hand, f"{name}.")


def _section_of(annotation: Any) -> Any:
    kinds = (annotation, *getattr(annotation, "__args__", ()))
    return next((kind for kind in kinds if hasattr(kind, "model_fields")), None)


def _keys(
    title: str, text: str, fields: Mapping[str, Any], by_hand: Mapping[str, str], prefix: str = ""
) -> Iterator[str]:
    yield from (f"## {title}", "", *((f"{text}.", "") if text else ()))
    yield from ("| key | means | default | change it when |", "|---|---|---|---|")
    for key, field in _single_keys(fields, prefix):
        means = f"{_cell(field.description)}{_choices(field.annotation)}"
        yield f"| `{key}` | {means} | {_default(key, field)} | {by_hand.get(key, '')} |"
    yield ""


def _single_keys(fields: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    """The keys of a section; of a section within it, its keys."""
    for name, field in fields.items():
        if within := _section_of(field.annotation):
            yield from _single_keys(public_fields(within), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", field


def _choices(annotation: Any) -> str:
    """The words that a key may hold, when it may hold no others."""
    kinds = [annotation, *get_args(annotation)]
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    return f": {', '.join(f'`{word}`' for word in words)}" if words else ""


def _default(key: str, field: Any) -> str:
    """The default of a key, as one writes it in YAML; a map shows where it differs from the key's own name."""
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None:
        return "none"
    if key == "payload.fields":
        changed = ", ".join(f"`{name}: {path}`" for name, path in value.items() if name != path)
        return f"{changed}; the others under their own names"
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if isinstance(value, tuple):
        return "`[" + ", ".join(f'"{item}"' if isinstance(item, str) else f"{item}" for item in value) + "]`"
    return f"`{value.value if isinstance(value, enum.Enum) else value}`"


def cli_page() -> str:
    """Every command with its options, as `--help` shows them."""
    lines = ["# Command line", NOTE, str(app.info.epilog), ""]
    group: Any = typer.main.get_command(app)
    for name, command in group.commands.items():
        lines += [f"## ragval {name}", "", " ".join(str(command.help).split()), ""]
        lines += ["| argument or option | | default |", "|---|---|---|"]
        for parameter in command.params:
            value = "" if getattr(parameter, "is_flag", False) else f" {parameter.metavar or ''}"
            names = ", ".join(parameter.opts) if parameter.param_type_name == "option" else ""
            shown = f"{names}{value}".strip().replace("|", " or ")
            default = "" if parameter.default in {None, False, ()} else f"`{parameter.default}`"
            lines.append(f"| `{shown}` | {_cell(parameter.help)} | {default} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def python_page() -> str:
    """Every public name with its signature and docstring."""
    lines = ["# Python", NOTE]
    lines += ["All names come from `ragval_pipeline` and are imported when first used. Examples that run:"]
    lines += ["[ragval in Python](../how-to/python.md).", ""]
    for name in ragval_pipeline.__all__:
        thing = getattr(ragval_pipeline, name)
        lines += [f"## {name}", "", *_signature(name, thing), *_described(thing)]
        if inspect.isclass(thing):
            methods = [(key, value) for key, value in vars(thing).items() if _is_public_method(key, value)]
            for key, method in methods:
                lines += [f"### {name}.{key}", "", *_signature(key, method), *_described(method)]
    return "\n".join(lines).rstrip() + "\n"


def _is_public_method(name: str, value: Any) -> bool:
    # pydantic puts model_post_init into each class with private attributes.
    return inspect.isfunction(value) and not name.startswith(("_", "model_")) and bool(value.__doc__)


def _signature(name: str, thing: Any) -> list[str]:
    if not callable(thing) or _is_pydantic(thing):
        return []
    try:
        signature = str(inspect.signature(thing))
    except (TypeError, ValueError):  # a class of C, an alias
        return []
    for written, shown in (
        (r"\b(\w+\.)+(?=[A-Z])", ""),
        (r"(: |-> )'([^']*)'", r"\1\2"),
        ("'", '"'),
        (r"\(self(, )?", "("),
    ):
        signature = re.sub(written, shown, signature)
    return [f"`{name}{signature}`", ""]


def _is_pydantic(thing: Any) -> bool:
    return hasattr(thing, "model_fields")


_SECTION = re.compile(r"^(Args|Attributes|Returns|Raises|Yields):$")


def _described(thing: Any) -> list[str]:
    """A Google-style docstring as Markdown: sections become lists."""
    if not (inspect.isclass(thing) or callable(thing)):
        return [f"`{thing!r}`", ""]
    lines: list[str] = []
    listing = False
    for line in inspect.getdoc(thing).splitlines() if thing.__doc__ else ():
        text = line.strip().replace("``", "`")
        entry = re.match(r"    (\*{0,2}\w+): (.*)", line.replace("``", "`"))
        if section := _SECTION.match(line):
            listing = True
            lines += [f"**{section[1]}**", ""]
        elif listing and entry:
            lines.append(f"- `{entry[1]}`: {entry[2]}")
        elif listing and line.startswith("    ") and lines and lines[-1].startswith("- "):
            lines[-1] += f" {text}"
        else:
            lines.append(text)
    return [*lines, ""]


def report_page() -> str:
    """The fields of validation_report.json, by part."""
    schema = ValidationReport.model_json_schema(mode="serialization")
    lines = [
        "# validation_report.json",
        NOTE,
        f"The report has the same shape under every profile; its `schema_version` is {SCHEMA_VERSION}.",
        "`ragval schema report` prints it as JSON Schema. Figures named percentage and `pass_rate` are 0 to 100, other",
        "shares 0 to 1, `*_ms` milliseconds, times UTC in ISO 8601. A value that was not measured is null.",
        "",
    ]
    for name, part in ({"ValidationReport": schema} | schema["$defs"]).items():
        if "properties" in part:
            lines += [f"## {name}", "", _summary(part), "", "| field | type | |", "|---|---|---|"]
            fields = part["properties"].items()
            lines += [f"| `{key}` | {_type(field)} | {_cell(field.get('description'))} |" for key, field in fields]
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def _summary(part: Mapping[str, Any]) -> str:
    return " ".join(part.get("description", "").partition("\n\n")[0].split())


def _type(schema: Mapping[str, Any]) -> str:
    """A JSON Schema type in a word or two; what the page describes is a link."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})" if name[0].isupper() and not name.endswith("Verdict") else name
    if "enum" in schema or "const" in schema:
        return _alternatives(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return _alternatives(_type(branch) for branch in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    if isinstance(schema.get("additionalProperties"), dict):
        return f"map of {_type(schema['additionalProperties'])}"
    kind = schema.get("type", "any")
    return {"object": "map", "string": "text"}.get(kind, kind)


def _alternatives(names: Iterable[str]) -> str:
    return " or ".join(dict.fromkeys(names))


def _cell(text: str | None) -> str:
    return " ".join((text or "").split()).replace("|", "\\|")
