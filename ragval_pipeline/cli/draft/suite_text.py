"""The suite file that ``ragval init`` writes: every guess with its reason, every choice with its alternative."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from ragval_pipeline.cli.draft.guess import EmbedderGuess
from ragval_pipeline.sources.site.folders import Folder
from ragval_pipeline.suite.criteria import DEFAULT_GATES, all_criteria
from ragval_pipeline.suite.profiles import get_profile
from ragval_pipeline.suite.providers import PROVIDERS
from ragval_pipeline.suite.sections import FILES
from ragval_pipeline.text.printing import plural
from ragval_pipeline.validation.first_look.kinds import Kinds
from ragval_pipeline.validation.first_look.tenants import PartedBy

#: The query file, next to the suite file.
QUERIES = "queries.yaml"


@dataclass(frozen=True)
class ScopeDraft:
    """Which listed pages are not indexed: whether they should be, the reader must say.

    Attributes:
        where: What lists the pages.
        listed: Number of listed pages.
        exclude: Globs of pages to exclude: generated, and not indexed.
        missing: The other folders and pages that are not indexed.
        stored: Path of the folder that all indexed pages share, or None.
    """

    where: str
    listed: int
    exclude: Sequence[str]
    missing: Sequence[Folder]
    stored: str | None

    @property
    def lacking(self) -> int:
        """Number of pages that are not indexed, without those to exclude."""
        return sum(folder.pages for folder in self.missing)


@dataclass(frozen=True)
class SuiteDraft:
    """What the suite file says.

    Attributes:
        suite: Name of the suite.
        profile: Name of the profile, or None.
        like_profile: A profile whose payload the points have, if none was given.
        flavour: The framework that wrote the points, or None.
        points_file: File of points, as written in the file; None with ``url`` and ``path``.
        url: Qdrant server; None with ``path``.
        path: Embedded Qdrant, as written in the file.
        collection: Collection or alias.
        vector_name: Name of the searched vector, or None.
        other_vectors: Names of the others.
        sparse_name: The sparse vector of keyword search.
        kinds: The fields that identify points to exclude.
        parted: The field that parts tenants, or None.
        fields: Canonical name to payload name, as found.
        shares: Payload name to the number of points that have it, if not all do.
        guessed: Canonical fields found by their values.
        absent: Canonical fields that were not found.
        required: Payload names; None: the profile's.
        points: Points examined.
        source: Kind and location of the source, as written in the file, or None.
        site_root: Folder of the built site, as written in the file, or None.
        scope: Which listed pages are not indexed; None: not known.
        host: Host that the points come from, or None.
        embedder: The guess.
        dimension: Length of the vectors.
        min_similarity: Measured on the starter queries, also for ``relevance_similarity``; or None.
        scores: The lowest best score of starter queries that found their page, and the highest of off-topic ones.
    """

    suite: str
    profile: str | None
    url: str | None
    path: str | None
    collection: str
    vector_name: str | None
    fields: Mapping[str, str]
    required: Sequence[str] | None
    points: int
    embedder: EmbedderGuess
    dimension: int
    like_profile: str | None = None
    flavour: str | None = None
    other_vectors: Sequence[str] = ()
    sparse_name: str | None = None
    kinds: Sequence[Kinds] = ()
    parted: PartedBy | None = None
    shares: Mapping[str, int] = field(default_factory=dict)
    guessed: Sequence[str] = ()
    absent: Sequence[str] = ()
    source: Mapping[str, str] | None = None
    site_root: str | None = None
    scope: ScopeDraft | None = None
    host: str | None = None
    min_similarity: float | None = None
    scores: tuple[float, float] | None = None
    points_file: str | None = None


def suite_text(draft: SuiteDraft) -> str:
    """The suite file."""
    sections = (_head(draft), _qdrant(draft), _source(draft), _payload(draft), _embedding(draft), _judging(draft))
    return "\n\n".join("\n".join(lines) for lines in sections) + "\n"


def _head(draft: SuiteDraft) -> list[str]:
    return [
        "# Written by `ragval init` from a look at the collection. Review it, correct it, then:",
        "#   ragval doctor -s FILE   checks every line against the real systems",
        "#   ragval run -s FILE      validates the index",
        "# `ragval schema suite` prints every key with its type and default; an unknown key is an error. ${NAME} and",
        "# ${NAME:-default} are read from the environment when a run starts. Paths start at this file's folder.",
        "",
        f"suite: {draft.suite}",
        f"profile: {_value(draft.profile)}{_shape(draft)}",
    ]


def _shape(draft: SuiteDraft) -> str:
    name = draft.like_profile
    return "" if name is None else f"   # {name}? The points have its fields; docs/reference/suite.md says what it sets"


def _qdrant(draft: SuiteDraft) -> list[str]:
    lines = ["qdrant:"]
    if draft.points_file is not None:
        lines = [f"points: {_value(draft.points_file)}", *lines]
    elif draft.path is not None:
        lines += [f"  path: {_value(draft.path)}"]
    else:
        lines += [f"  url: {_value(draft.url)}", "  api_key: ${QDRANT_API_KEY:-}"]
    lines += [f"  collection: {_value(draft.collection)}"]
    if draft.vector_name is not None:
        others = f"   # others: {', '.join(draft.other_vectors)}" if draft.other_vectors else ""
        lines += [f"  vector_name: {_value(draft.vector_name)}{others}"]
    if draft.kinds:
        lines += [
            "  filter:",
            *(f"    {_value(kinds.path)}: {_value(kinds.kept)}   # {kinds.told}" for kinds in draft.kinds),
        ]
    if draft.parted is not None:
        lines += [f"  partition_by: {_value(draft.parted.path)}   # {draft.parted.why}"]
    return lines


def _source(draft: SuiteDraft) -> list[str]:
    if draft.source is None:
        guess = f"https://{draft.host}/sitemap.xml" if draft.host else "https://docs.example.com/sitemap.xml"
        return [
            "# Without a source, coverage and integrity are not measured: set the site that was ingested, and",
            "# require again what is switched off under `criteria`.",
            "# source:",
            f"#   sitemap: {guess}   # URL or file; or folder, urls or llms: docs/how-to/sources.md",
            "#   include: [/**]   # globs of the pages that belong in the index; exclude wins",
        ]
    lines = ["source:", *(f"  {key}: {_value(place)}" for key, place in draft.source.items())]
    if draft.source.get("site_url") == FILES:
        lines[-1] += "   # the points name files; or the URL of the site, then pages are identified by URL"
    if draft.site_root is not None:
        lines += [f"  site_root: {_value(draft.site_root)}   # the built site, read instead of fetching pages"]
    return lines if draft.scope is None else [*lines, *_scope(draft.scope)]


#: Lines for folders that are not indexed.
_FOLDERS = 20
#: Single pages named that are next to indexed ones.
_BESIDE = 3


def _scope(scope: ScopeDraft) -> list[str]:
    """What is left out, and what could be: lines that take effect when their ``#`` is removed."""
    made = [f"    - {_value(glob)}   # made by the site generator, and not indexed" for glob in scope.exclude]
    if not scope.missing:
        return ["  exclude:", *made] if made else []
    are = "is" if scope.lacking == 1 else "are"
    message = f"{scope.lacking:,} of {plural(scope.listed, 'page')} of {scope.where} {are} not indexed"
    lines = [
        f"  # {message}, and a run reports them as missing: ingest them.",
        "  # Only what your assistant does not need, leave out instead: remove the # of its lines.",
    ]
    if scope.stored is not None:
        lines.append(f"  # include: {_value([f'{scope.stored}/**'])}   # the folder that all indexed pages share")
    whole = [folder for folder in scope.missing if not folder.beside]
    if whole or made:
        lines += ["  exclude:", *made] if made else ["  # exclude:"]
    hidden = "    # - " if made else "  #   - "
    lines += [
        f"{hidden}{_value(folder.glob)}   # {plural(folder.pages, 'page')}, not indexed" for folder in whole[:_FOLDERS]
    ]
    if whole[_FOLDERS:]:
        lines.append(f"  # and {sum(folder.pages for folder in whole[_FOLDERS:]):,} pages of other folders")
    if beside := [folder.glob for folder in scope.missing if folder.beside]:
        more = f" and {len(beside) - _BESIDE:,} more" if beside[_BESIDE:] else ""
        lines.append(f"  # Not indexed, next to pages that are: {', '.join(beside[:_BESIDE])}{more}")
    return lines


def _payload(draft: SuiteDraft) -> list[str]:
    absent = textwrap.wrap(f"Not found: {', '.join(draft.absent)}. Add those that have another name", 100)
    missing = [f"    # {line}" for line in absent] if draft.absent else []
    if not draft.fields:
        message = "no field of the points has a name known to ragval, or looks like a text or a URL"
        return ["payload:", f"  fields: {{}}   # {message}", *missing, "  required: []"]
    lines = ["payload:"]
    if draft.embedder.embedded_text is not None:
        template = json.dumps(draft.embedder.embedded_text, ensure_ascii=False)
        known = draft.embedder.provider == "static"
        why = "embedding this again reproduced the stored vectors" if known else "what is embedded is on no page"
        lines.append(f"  embedded_text: {template}   # {why}")
    if draft.flavour is not None:
        lines.append(f"  flavour: {draft.flavour}   # the tool that stored the points; also sets what was embedded")
    lines.append(f"  fields:   # found in the first {plural(draft.points, 'point')}")
    lines += [f"    {name}: {_value(path)}{_doubt(draft, name, path)}" for name, path in draft.fields.items()]
    lines += missing
    if draft.required is not None:
        lines.append(f"  required: {_value(list(draft.required))}   # every point must have them")
    return lines


def _doubt(draft: SuiteDraft, name: str, path: str) -> str:
    doubts = ["CHECK THIS: guessed from its content"] if name in draft.guessed else []
    if path in draft.shares:
        doubts.append(f"in {draft.shares[path]:,} of {draft.points:,} points")
    return f"   # {', '.join(doubts)}" if doubts else ""


def _embedding(draft: SuiteDraft) -> list[str]:
    guess = draft.embedder
    sure = "" if guess.sure else "CHECK THIS: "
    lines = [f"embedding:   # {sure}{guess.why}"]
    if guess.provider is None:
        model = [f"  # model: {_value(guess.model)}"] if guess.model else []
        return [
            *lines,
            "  # Write my_embedder.py next to this file: a function embed(texts, input_type) that returns a vector for",
            f"  # each text, {draft.dimension} numbers long, exactly as your ingestion does. The next line finds it.",
            "  provider: my_embedder:embed",
            *model,
        ]
    lines.append(f"  provider: {guess.provider}")
    if guess.model is not None:
        lines.append(f"  model: {guess.model}")
    if guess.provider in PROVIDERS and PROVIDERS[guess.provider].variable:
        lines.append(f"  api_key: ${{{PROVIDERS[guess.provider].variable}:-}}")
    return lines


def _judging(draft: SuiteDraft) -> list[str]:
    lines = [
        f"queries: {QUERIES}",
        "",
        "retrieval:",
        "  top_k: 5   # as many hits as your assistant reads",
    ]
    if draft.min_similarity is not None and draft.scores is not None:
        # Must stay true for other values: `ragval calibrate --write` changes only the number.
        right, wrong = draft.scores
        lines += [
            f"  # A first guess: right answers scored {right:.2f} or more, off-topic questions {wrong:.2f} or less;",
            "  # `ragval calibrate` measures it.",
            f"  min_similarity: {draft.min_similarity}",
            f"  relevance_similarity: {draft.min_similarity}   # `ragval calibrate` sets the two separately",
        ]
    elif draft.profile is None:
        lines += [
            "  # min_similarity: not set, because no value fits every model and none could be measured here.",
            "  # `ragval calibrate -s FILE --write` measures it; until then 0.70 applies where only a score can "
            "decide.",
        ]
    if draft.sparse_name is not None:
        if draft.embedder.unused:
            lines += ["  # mode: sparse   # asks the questions; needs fastembed for BM25, else sparse.model"]
        named = _value(draft.sparse_name)
        lines += ["  sparse:", f"    vector_name: {named}   # of keyword and hybrid search; every point must have one"]
    return [*lines, *_criteria(draft), *_severity(draft)]


def _severity(draft: SuiteDraft) -> list[str]:
    """A guessed limit fails no run."""
    if not draft.embedder.may_read_more:
        return []
    told = "delete this line when the model is checked: others read more tokens"
    return ["", "severity:", f"  chunk.over_model_limit: warning   # {told}"]


def _criteria(draft: SuiteDraft) -> list[str]:
    profile = get_profile(draft.profile)
    gates = profile.gates if profile else DEFAULT_GATES
    of_site = [entry.name for entry in all_criteria(()) if entry.reads_site and entry.name in gates]
    off = [f"  {name}: null   # measured against a source" for name in of_site if gates[name].required]
    if profile is not None:
        return ["", "criteria:", *off] if off and draft.source is None else []
    return [
        "",
        "criteria:   # a required criterion that is not met fails the run; `ragval schema suite` lists them all",
        "  query_pass_rate: 0.90   # applies once a query is not a draft",
        *(["  coverage: 1.0"] if draft.source is not None else off),
        "  metadata_completeness: 1.0",
        "  error_findings: 0",
    ]


def _value(value: Any) -> str:
    """A value as YAML on one line."""
    text: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10_000)
    return text.removesuffix("\n").removesuffix("\n...")
