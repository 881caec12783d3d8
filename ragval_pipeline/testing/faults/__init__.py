"""Systems that fail, for tests of their clients: servers on loopback ports, readers and embedders.

    from ragval_pipeline.testing.faults.qdrant_server import QdrantStandIn   # needs ragval-pipeline[testing]

    with QdrantStandIn() as server:
        server.fail("503", times=2, path="/scroll")

``qdrant_server`` is Qdrant's own engine behind its REST calls, ``http_host`` serves pages and sitemaps, and
``cohere_server`` answers ``/v2/embed``: each works until it is set to fail. ``services`` fails in the process itself,
between a run and its Qdrant or its embedder. What does not live here: the expected result of a fault
(``tests/faults``).
"""
