"""SQL over the facts of a run: the documented views, and the session that answers queries over them.

The views are tables in memory. A query can read nothing else: no file, no network, no setting of the session.
"""
