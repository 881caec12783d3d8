"""Is the payload as a whole valid: field names, ids, modules, constant values?"""
