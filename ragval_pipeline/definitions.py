"""The entry point that ``workspace.yaml`` loads: definitions of the suites in ``RAGVAL_SUITES``, else the demo's."""

from ragval_pipeline.lazy import loading_without_collector

with loading_without_collector():
    from ragval_pipeline.orchestration.build import definitions_of_suites

    defs = definitions_of_suites()
