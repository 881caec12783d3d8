#!/usr/bin/env bash
# The step of action.yml that validates: runs ragval, shows its summary on the job's page, and ends as it ended.
# Inputs come as variables and are never part of the script: a branch name cannot become a command.
set -uo pipefail

arguments=(run --suite "${RAGVAL_SUITE:?}" --output "${RAGVAL_OUTPUT:?}")
if [ -n "${RAGVAL_ONLY:-}" ]; then
  arguments+=(--only "$RAGVAL_ONLY")
fi
# What an earlier step left there is not this run's.
rm -f "$RAGVAL_OUTPUT/summary.md" "$RAGVAL_OUTPUT/validation_report.json"

told=$(mktemp)
ragval "${arguments[@]}" 2> >(tee "$told" >&2)
code=$?
wait
python "$(dirname "$0")/annotate.py" "$RAGVAL_SUITE" "$RAGVAL_OUTPUT/validation_report.json" "$told"
rm -f "$told"

verdict=""
if [ -f "$RAGVAL_OUTPUT/validation_report.json" ]; then
  verdict=$(python -c 'import json, sys; print(json.load(open(sys.argv[1], encoding="utf-8"))["verdict"])' \
    "$RAGVAL_OUTPUT/validation_report.json")
fi
if [ -f "$RAGVAL_OUTPUT/summary.md" ]; then
  cat "$RAGVAL_OUTPUT/summary.md" >> "${GITHUB_STEP_SUMMARY:-/dev/stdout}"
fi
{
  echo "exit-code=$code"
  echo "verdict=$verdict"
} >> "${GITHUB_OUTPUT:-/dev/stdout}"
exit "$code"
