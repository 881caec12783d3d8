from __future__ import annotations

from io import StringIO

from rich.console import Console

from ragval_pipeline.reporting.files.metrics import metrics_text
from ragval_pipeline.reporting.partitions import partition_words
from ragval_pipeline.reporting.terminal.summary import render_summary
from tests.reporting.factory import bundle, criterion, report, report_html

HOSTILE = "<b>acme</b>"


def test_partitions_below_what_is_required_come_first_in_every_output() -> None:
    own = {value: {"coverage": criterion("coverage", share, 1.0)} for value, share in (("globex", 1.0), (HOSTILE, 0.5))}
    whole = report(by_partition=own)
    told = "1 of 2 partitions below what is required:"
    assert partition_words(whole)[0] == told
    assert partition_words(whole)[1].startswith(f"{HOSTILE}: Pages in the index 50 %")
    out = StringIO()
    render_summary(whole, Console(file=out, width=120), report_path=None)
    assert told in out.getvalue()
    page = report_html(bundle(whole)).decode()
    assert page.index("&lt;b&gt;acme&lt;/b&gt;") < page.index('<th scope="row">globex</th>')
    assert HOSTILE not in page
    assert (
        'ragval_partition_criterion_value{criterion="coverage",partition="globex"'
        in metrics_text(whole, last_pass=None).decode()
    )
