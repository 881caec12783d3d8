"""Whether the payload as a whole makes sense: names of fields, ids, modules, values that never change."""
