#!/usr/bin/env bash
# The step of action.yml that installs: what the caller names, else this checkout with the locked packages, by hash.
set -euo pipefail

install=(python -m pip install --quiet --disable-pip-version-check)
if [ -n "${RAGVAL_PACKAGE:-}" ]; then
  "${install[@]}" "$RAGVAL_PACKAGE"
else
  "${install[@]}" --require-hashes --requirement "${RAGVAL_ACTION:?}/requirements-core.lock"
  "${install[@]}" --no-deps "$RAGVAL_ACTION"
fi
