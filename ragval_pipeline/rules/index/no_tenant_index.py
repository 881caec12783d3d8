"""No index for tenants."""

from ragval_pipeline.rules.rule import Rule

RULE = Rule(
    code="index.no_tenant_index",
    severity="warning",
    level="run",
    group="index",
    subject_kind="field",
    action="setting",
    title="No index for tenants",
    means="tells tenants apart and has no index for tenants",
    many="tell tenants apart and have no index for tenants",
    measured=(
        "The fields of qdrant.partition_by and of the queries' filters are compared with the collection's payload "
        "indexes and, on a server that knows them, with those for tenants (is_tenant). A field of qdrant.filter is "
        "index.payload_index_missing."
    ),
    cause="The index was never created, or not as one for tenants.",
    remedy="Create a keyword index with is_tenant for the field: points of a tenant are then stored together.",
)
