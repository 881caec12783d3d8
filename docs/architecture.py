"""The picture of the assets: a layered graph as SVG, drawn from the table of assets, so that it shows what runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from ragval_pipeline.measuring.table import ROWS

#: What lies outside of ragval, and how it is written; `gates` is what a report is followed by.
OUTSIDE = {"site": "sitemap and pages", "qdrant": "Qdrant collection", "gates": "blocking checks"}
_WIDTH, _HEIGHT, _GAP, _STEP, _THIN = 176, 34, 26, 84, 18
_STYLE = """
  text { font: 13px ui-sans-serif, system-ui, sans-serif; text-anchor: middle; fill: #1d2733 }
  rect { fill: #ffffff; stroke: #4051b5; stroke-width: 1.5 }
  rect.outside { fill: #eceff7; stroke-dasharray: 4 3 }
  rect.report { fill: #dfe4f7 }
  path { fill: none; stroke: #7a869a; stroke-width: 1.3; marker-end: url(#tip) }
  path.part { marker-end: none }
"""


@dataclass(frozen=True)
class Node:
    """A box, or the place where a long arrow crosses a layer: then it has no text."""

    name: str
    text: str | None

    @property
    def width(self) -> int:
        """Pixels that it takes in its layer."""
        return _THIN if self.text is None else _WIDTH


def drawn_edges() -> list[tuple[str, str]]:
    """Who reads whom, without what an asset also gets through another one that it reads."""
    edges = [("site", "sitemap_urls"), ("site", "page_snapshot"), ("qdrant", "payload_snapshot")]
    for name, row in ROWS.items():
        edges += [(read, name) for read in row.reads if not any(read in _before(other) for other in row.reads)]
    return [*edges, ("validation_report", "gates")]


def _before(name: str) -> set[str]:
    return {earlier for read in ROWS[name].reads for earlier in (read, *_before(read))}


def architecture_svg() -> str:
    """The picture."""
    layers, edges = _layers()
    inner = max(sum(node.width + _GAP for node in layer) for layer in layers) + _GAP
    size = f"{inner} {len(layers) * _STEP - _STEP + _HEIGHT + 24}"
    places = {
        node.name: (x, 12 + depth * _STEP) for depth, layer in enumerate(layers) for node, x in _spread(layer, inner)
    }
    texts = {node.name: node.text for layer in layers for node in layer}
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size}" role="img">']
    lines += ["<title>The assets of a suite, and what they read</title>", f"<style>{_STYLE}</style>"]
    lines.append(
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<polygon points="0,0 8,4 0,8" fill="#7a869a"/></marker>'
    )
    lines += [_arrow(places[one], places[other], texts[one], texts[other]) for one, other in edges]
    for name, (x, y) in places.items():
        if texts[name] is not None:
            kind = "outside" if name in OUTSIDE else "report" if name == "validation_report" else "asset"
            left = f"{x - _WIDTH / 2:g}"
            box = f'<rect class="{kind}" x="{left}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6"/>'
            lines.append(f'{box}<text x="{x:g}" y="{y + 22}">{escape(texts[name] or "")}</text>')
    return "\n".join([*lines, "</svg>", ""])


def _layers() -> tuple[list[list[Node]], list[tuple[str, str]]]:
    """Nodes by the longest way to them, and edges between neighbouring layers only."""
    edges = drawn_edges()
    depth = dict.fromkeys(OUTSIDE, 0)
    for name in [*ROWS, "gates"]:
        depth[name] = 1 + max(depth[one] for one, other in edges if other == name)
    nodes = {name: Node(name, OUTSIDE.get(name, name)) for name in depth}
    layers: list[list[Node]] = [[] for _ in range(max(depth.values()) + 1)]
    for name, at in depth.items():
        layers[at].append(nodes[name])
    short = []
    for one, other in edges:
        way = [one]
        for at in range(depth[one] + 1, depth[other]):
            way.append(f"{one}>{other}@{at}")
            layers[at].append(Node(way[-1], None))
        short += list(zip(way, [*way[1:], other], strict=True))
    for _ in range(8):
        for layer, neighbours in (
            *zip(layers[1:], layers, strict=False),
            *zip(layers[-2::-1], layers[::-1], strict=False),
        ):
            _order(layer, neighbours, short)
    return layers, short


def _order(layer: list[Node], neighbours: list[Node], edges: list[tuple[str, str]]) -> None:
    """Put the nodes of a layer where their neighbours are, on average: fewer arrows cross."""
    at: Mapping[str, float] = {node.name: x for node, x in _spread(neighbours, 0)}
    own = {node.name: x for node, x in _spread(layer, 0)}

    def middle(node: Node) -> float:
        near = [at[b if a == node.name else a] for a, b in edges if node.name in (a, b) and (a in at or b in at)]
        return sum(near) / len(near) if near else own[node.name]

    layer.sort(key=middle)


def _spread(layer: list[Node], width: int) -> list[tuple[Node, float]]:
    """The nodes of a layer beside each other, around the middle, with the centre of each."""
    x = (width - sum(node.width + _GAP for node in layer)) / 2
    placed = []
    for node in layer:
        placed.append((node, x + (node.width + _GAP) / 2))
        x += node.width + _GAP
    return placed


def _arrow(start: tuple[float, int], end: tuple[float, int], text: str | None, target: str | None) -> str:
    (x1, y1), (x2, y2) = start, end
    top, bottom = y1 + (_HEIGHT if text is not None else _HEIGHT // 2), y2 if target is not None else y2 + _HEIGHT // 2
    half = (top + bottom) / 2
    kind = ' class="part"' if target is None else ""
    return f'<path{kind} d="M{x1:g} {top} C{x1:g} {half:g} {x2:g} {half:g} {x2:g} {bottom}"/>'
