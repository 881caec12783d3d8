"""``report.html``: one page that opens offline, written piece by piece."""
