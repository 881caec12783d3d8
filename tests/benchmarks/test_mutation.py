from __future__ import annotations

import ast

from benchmarks.mutation import mutated, sites

CODE = """
def f(a):
    if a > 1 and True:
        return a + 2
    return 0 in a
"""


def test_each_mutant_differs_from_the_code_at_one_place():
    made = []
    for number in range(len(list(sites(ast.parse(CODE))))):
        tree = ast.parse(CODE)
        assert mutated(list(sites(tree))[number])
        made.append(ast.unparse(ast.fix_missing_locations(tree)).splitlines()[1:])
    asked, first, last = "    if a > 1 and True:", "        return a + 2", "    return 0 in a"
    assert sorted(made) == sorted([
        *([other, first, last] for other in (
            "    if not (a > 1 and True):", "    if a > 1 or True:", "    if a >= 1 and True:",
            "    if a > 2 and True:",
            "    if a > 1 and False:",
        )),
        *([asked, other, last] for other in ("        return None", "        return a - 2", "        return a + 3")),
        *([asked, first, other] for other in ("    return None", "    return 0 not in a", "    return 1 in a")),
    ])  # fmt: skip
