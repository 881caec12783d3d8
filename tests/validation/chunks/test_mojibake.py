from __future__ import annotations

import html
import json
from dataclasses import replace

import pytest

from ragval_pipeline.validation.facts.damage import damaged_passages
from tests.validation.chunks.world import paragraphs, record
from tests.validation.rows import detected, evidence_of, named, texts

PASSAGES = ["don’t stop", "a café", "Größe", "“quoted” – dash", "5 µm ± 2 °C", "日本語のテキスト", "wait…", "→ next"]


@pytest.mark.parametrize("passage", PASSAGES)
def test_utf_8_that_was_read_as_latin_1_is_named(passage):
    assert list(damaged_passages(f"In this chapter {passage.encode().decode('latin-1')} and on."))


@pytest.mark.parametrize("passage", ["don’t stop", "a café", "Größe", "5 µm ± 2 °C", "wait…", "⚠ care", "⚡ go", "C™"])
def test_utf_8_that_was_read_as_windows_1252_is_named(passage):
    assert list(damaged_passages(f"In this chapter {passage.encode().decode('cp1252')} and on."))


def test_text_that_was_misread_twice_is_named():
    assert list(damaged_passages("a café".encode().decode("latin-1").encode().decode("latin-1")))


def test_a_dos_apostrophe_is_named():
    [passage] = damaged_passages("I don’t".encode().decode("cp437"))
    assert (passage.before, passage.after) == ("donΓÇÖt", "don’t")


def test_what_was_lost_is_named_within_words_only():
    [passage] = damaged_passages("a caf\ufffd")
    assert (passage.before, passage.after) == ("a caf\ufffd", None)
    assert len(list(damaged_passages("\ufffdber den Tag"))) == 1
    assert not list(damaged_passages("the replacement character (\ufffd) stands for it"))


@pytest.mark.parametrize(
    "text",
    [
        "SÃO PAULO, AMANHÃ É OUTRO DIA", "Ação não é fácil à noite", "Việt Nam: đất nước, học máy",
        "Привет, мир: В± и Г©",
        "├── src\n│   └── main.py\n└── README", "╔═══╗║ a ║╚═══╝ █▓▒░", "α ≤ β ≠ γ → ∞, x² ± √y", "नमस्ते दुनिया",
        "« texte » 50 %, l’été à l’œuvre", "a letra Ã é usada", "| Ã | 195 |", "Türkçe İstanbul ığüşöç", "10 µm × 5 °C",
        "日本語のテキスト 한국어 中文", "ʃəˈ ɑː IPA", "👩‍👩‍👧 ⚠️ ✅",
        "coborî „pe ea, â”–…», zise â’“ el", "pâ… «bâ» šâš",
    ],
)  # fmt: skip
def test_languages_code_and_drawings_are_not(text):
    assert not list(damaged_passages(text))


def test_headings_count_and_the_cause_shows_how_it_should_read():
    findings = damaged("fine", "fine too", headings=["Itâ€™s here"])
    assert [subject.name for subject in findings[0].subjects] == ["0", "1"]
    assert findings[0].cause == "“Itâ€™s” should read “It’s”."


LESSON = "Read as Latin-1, `Größe` becomes `GrÃ¶ÃŸe` and `café` becomes `cafÃ©`."


def damaged(*stored: str, shown: str | None = None, page: str = "/a", **payload):
    pages = [] if shown is None else [record(paragraphs(shown))]
    return detected("text.mojibake", evidence_of(texts(*stored, page=page, **payload), pages))


def test_what_the_page_shows_itself_is_an_example_of_the_author():
    page = "Read as Latin-1, Größe becomes GrÃ¶ÃŸe and café becomes cafÃ©."
    for stored in (LESSON, LESSON.lower(), f"| {LESSON} |"):
        assert damaged(stored, shown=page) == []


def test_a_page_that_shows_broken_words_does_not_excuse_others():
    page = "Read as Latin-1, Größe becomes GrÃ¶ÃŸe and café becomes cafÃ©."
    broken = ["schÃ¶n", f"{LESSON} Das ist schÃ¶n.", LESSON.encode().decode("latin-1")]
    for stored in broken:
        assert named(damaged(stored, shown=page)) == ["0"]


def test_what_was_lost_is_named_whatever_the_page_shows():
    assert named(damaged("a caf\ufffd", shown="a caf\ufffd")) == ["0"]


TIDES = "潮汐表は一年分を印刷できます。印刷する前に、港の名前と基準面を確認してください。表は毎月更新されます。"


def pieces(text: str, size: int = 32) -> list[str]:
    """A text cut by bytes, with what is left of cut characters replaced."""
    encoded = text.encode()
    return [encoded[at : at + size].decode(errors="replace") for at in range(0, len(encoded), size)]


@pytest.mark.parametrize("context", ["", "Printing the tables\n\n"])
def test_texts_that_are_cut_by_bytes_are_to_be_cut_at_characters(context: str):
    [finding] = damaged(*(f"{context}{piece}" for piece in pieces(TIDES)), shown=TIDES)
    assert finding.count > 3
    assert finding.message == f"{finding.count} points begin or end within a character."
    assert "cuts by bytes or tokens" in finding.cause
    assert "cut between characters" in finding.remedy
    assert "character set" not in f"{finding.cause} {finding.remedy}"


def test_characters_lost_within_a_text_were_decoded_wrongly_whatever_its_edges_are():
    decoded = "Ä Größe überall: für Öl".encode("latin-1").decode(errors="replace")
    [finding] = damaged(*[decoded] * 3)
    assert "character set" in finding.remedy
    assert "bytes or tokens" not in finding.cause


def test_what_single_texts_lack_at_an_edge_may_be_either():
    [finding] = damaged("\ufffdber den Tag", "fine")
    assert "character set" in finding.remedy
    assert "bytes or tokens" in finding.cause


def test_a_chunk_that_lost_its_page_may_be_the_lesson_that_any_page_is():
    page = "Read as Latin-1, Größe becomes GrÃ¶ÃŸe and café becomes cafÃ©."
    assert damaged(LESSON, shown=page, page="lost") == []
    assert named(damaged("schÃ¶n", shown=page, page="lost")) == ["0"]


RUSSIAN = "Справочная страница программы tar описывает файлы, ключи и коды возврата"
FRENCH = "Le d\u00e9faut est cr\u00e9\u00e9 \u00e0 la premi\u00e8re ex\u00e9cution"
QUOTED = "The option doesn't take \"quoted\" names and isn't read twice"


def replaced(text: str) -> str:
    return text.encode("ascii", "replace").decode()


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (replaced(RUSSIAN), RUSSIAN),
        (replaced("Справочная страница программы"), RUSSIAN),
        (replaced(FRENCH), FRENCH),
        (RUSSIAN.encode().decode("ascii", "replace"), RUSSIAN),
        ("Справочная страница".encode().decode("ascii", "replace"), RUSSIAN),
        (RUSSIAN.encode("cp1251").decode("latin-1"), RUSSIAN),
        (RUSSIAN.encode("koi8-r").decode("cp1251"), RUSSIAN),
        (QUOTED.replace("'", "&#39;").replace('"', "&quot;"), QUOTED),
        ("Defaults to `&quot;application/json&quot;`.", 'Defaults to "application/json".'),
        ("protocol = &#x27;HTTP/1.1&#x27;", "protocol = 'HTTP/1.1'\u00b6"),
        ("the params are `{&#x27;charset&#x27;: 1}`", "the params are {'charset': 1}; write &amp;#x27; in HTML"),
        ("It isn't quoted, &quot;so&quot; don&#39;t", "It isn't quoted, \"so\" don't"),
        ("**Q&amp;A**: don&#39;t", "Q&amp;A: don't"),
        ("Write List&lt;String&gt; for a list of texts", "Write List&lt;String&gt; for a list of texts"),
        ("if a &lt; b &amp;&amp; b &gt; c:", "if a &lt; b &amp;&amp; b &gt; c:"),
        ("Write List&amp;lt;String&amp;gt; for a list of texts", "Write List&lt;String&gt; for a list of texts"),
        ("say &amp;quot;so&amp;quot; of Q&amp;amp;A twice", "say &quot;so&quot; of Q&amp;A twice"),
        ("Read more &amp; more about it", "Read more &amp; more about it"),
        (json.dumps("Größe der Schrift wählen")[1:-1], "Größe der Schrift wählen"),
        (r"Choose a size\n\nThe size of the letters", "Choose a size. The size of the letters"),
        ("Man kann ĂźberprĂźfen, ob es hilft", "Man kann überprüfen, ob es hilft"),
        ("Wait ? and read on, he said", "Wait \u2013 and read on, he said"),
        ("So you can?t stop? Really?", "So you can\u2019t stop? Really?"),
        ("Is it so? Then open the caf?", "Is it so? Then open the caf\u00e9. Or not? It closes"),
    ],
)
def test_what_only_the_page_proves_to_be_damaged_is_named(stored: str, shown: str):
    assert named(damaged(stored, shown=shown)) == ["0"]
    assert damaged(html.unescape(shown), shown=shown) == []


CHINESE = "在其他系统上请下载静态可执行文件，赋予执行权限，然后移动到路径中的文件夹。"


@pytest.mark.parametrize("charset", ["gb18030", "gbk"])
@pytest.mark.parametrize("cut", [len(CHINESE), 20])
def test_bytes_that_look_like_utf_8_in_part_are_read_as_the_page_shows_them(charset: str, cut: int):
    [finding] = damaged(CHINESE[:cut].encode(charset).decode("latin-1"), shown=CHINESE)
    assert f"should read “{CHINESE[:10]}" in finding.cause


@pytest.mark.parametrize("code", [34, 38, 39, 60, 62])
@pytest.mark.parametrize("form", ["&#{0};", "&#0{0};", "&#x{0:x};", "&#X{0:X};", "&{1};"])
def test_every_escape_of_a_character_that_html_needs_is_named(code: int, form: str):
    name = {34: "quot", 38: "amp", 39: "apos", 60: "lt", 62: "gt"}[code]
    shown = html.escape(f"names of_values {chr(code)} their lists")
    assert named(damaged(f"names of_values {form.format(code, name)} their lists", shown=shown)) == ["0"]


def test_what_the_markdown_of_a_page_writes_so_is_not_damaged():
    stored = "Contributing &amp; Support"
    page = record(paragraphs("Contributing &amp; Support"))
    assert named(detected("text.mojibake", evidence_of(texts(stored), [page]))) == ["0"]
    assert detected("text.mojibake", evidence_of(texts(stored), [replace(page, source=f"# {stored}")])) == []


def test_escapes_are_to_be_unescaped_and_no_character_set_is_to_blame():
    [escaped] = damaged("Write List&lt;String&gt; for it, and more", shown="Write List&lt;String&gt; for it, and more")
    assert "escaped" in escaped.message
    assert "nescape" in escaped.remedy
    assert "Decode" not in escaped.remedy
    [both] = damaged(
        "It isn&#39;t so easy to say", "Das ist schÃ¶n", shown="It isn't so easy to say. Das ist sch\u00f6n"
    )
    assert "Decode" in both.remedy
    assert "nescape" in both.remedy


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (replaced(RUSSIAN), "Another page, in English alone"),
        # Marks of full width become those of ASCII where texts are normalised.
        ("机器人学习框架的手爪为什么一直闭合?", "机器人学习框架的手爪为什么一直闭合\uff1f请检查设置。"),
        ("What is in the folder ?", "What is in the folder \u201cpool\u201d ?"),
        (
            "One can enter a newline as \u2018 \u2019. When you need it\n\\n\nhow to go on, double it",
            "One can enter a newline as \u2018\\n\u2019. When you need it how to go on, double it",
        ),
        ("What?? He asked /search?q=1 and left", f"{RUSSIAN}. What?? He asked /search?q=1 and left"),
        ("The mark \ufffd stands for it", "The mark \ufffd stands for it"),
        ("Write don&#39;t for it", "Write don&amp;#39;t for don't"),
        ('`&quot;so&quot;` is how "so" is written', '&amp;quot;so&amp;quot; is how "so" is written'),
        ("Write &quot;so&quot; here", "Write \u201cso\u201d here"),
        ("Write &quot;so&quot; here", 'Another page writes "so" elsewhere'),
        ("&quot; &quot;", 'An empty text is ""'),
        (RUSSIAN.replace("tar", "cpio"), RUSSIAN),
        ("Write &lt;br&gt; in HTML for a line break", "Write &amp;lt;br&amp;gt; in HTML for a line break"),
        ("Write List&lt;String&gt; here", "Another page writes List of String elsewhere"),
        (
            "text('Hello <em>World</em>!') or text('Hello &lt;em&gt;World&lt;/em&gt;!')",
            "text('Hello &lt;em&gt;World&lt;/em&gt;!') or text('Hello &amp;lt;em&amp;gt;World&amp;lt;/em&amp;gt;!')",
        ),
        (r"Write print('done\n') at the end", r"Write print('done\n') at the end"),
        (r"The angle \theta and the slope \nabla f of it", "The angle \u03b8 and the slope \u2207f of it"),
        ('He asked: "Is it so?"', "He asked: \u201cIs it so?\u201d Nobody knew."),
        ("Is it so? - Then go on, he said", "\u201cIs it so?\u201d \u2013 Then go on, he said"),
    ],
)
def test_what_the_page_shows_or_does_not_prove_is_not(stored: str, shown: str):
    assert damaged(stored, shown=shown) == []
