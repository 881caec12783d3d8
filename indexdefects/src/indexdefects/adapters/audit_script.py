# /// script
# requires-python = ">=3.11"
# dependencies = ["pyarrow==26.0.1"]
#
# [tool.indexdefects]
# title = "a script of 40 lines"
# tiers = ["index", "source"]
# [tool.indexdefects.names]
# missing = ["page_deleted", "crash_in_the_middle", "ids_from_the_tail"]
# orphan = ["deletes_forgotten"]
# localhost = ["development_host"]
# no_url = ["url_dropped"]
# no_text = ["text_emptied"]
# same_text = ["point_copied", "two_spellings"]
# zero = ["vector_zero"]
# same_vector = ["vector_copied"]
# ///
"""What people write themselves: count points for each page, look for empty fields, equal texts and equal vectors."""

from collections import defaultdict

from _tool import finding, serve


def audit(world, scratch):
    points = list(world.points())
    texts, vectors, pages = defaultdict(list), defaultdict(list), defaultdict(list)
    for name, _, vector, text, url in points:
        pages[url.rstrip("/")].append(name)
        texts[text.strip()].append(name)
        vectors[tuple(round(number, 6) for number in vector)].append((name, text.strip()))
    found = []
    if world.has("source"):
        listed = {url.rstrip("/") for url, _ in world.pages()}
        found.append(("missing", "pages", sorted(listed - set(pages))))
        found.append(("orphan", "pages", sorted(url for url in set(pages) - listed if url)))
    found.append(("localhost", "pages", sorted(url for url in pages if "localhost" in url)))
    found.append(("no_url", "points", pages.get("", [])))
    found.append(("no_text", "points", texts.pop("", [])))
    found.append(("same_text", "points", [name for names in texts.values() for name in names[1:]]))
    zero = [name for vector, entries in vectors.items() if not any(vector) for name, _ in entries]
    found.append(("zero", "points", zero))
    shared = [entries for entries in vectors.values() if len({text for _, text in entries}) > 1]
    same = [name for entries in shared for name, _ in entries if name not in zero]
    found.append(("same_vector", "points", same))
    findings = [finding(code, "error", **{kind: names}) for code, kind, names in found if names]
    advice = {"delete_points": [name for code, _, names in found if code == "same_text" for name in names]}
    advice["reingest_pages"] = [name for code, _, names in found if code == "missing" for name in names]
    return {"findings": findings, "advice": advice, "embedding_calls": 0}


serve(audit)
