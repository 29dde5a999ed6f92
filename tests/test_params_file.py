"""params.yaml as a file: what is no YAML, and the two parsers that read it."""

import pytest
from ruamel.yaml import YAML

from iterlin_lab.config import ParamsError, load, read_yaml
from tests.clone import ROOT


def test_what_is_not_yaml_or_not_there_is_one_line(tmp_path):
    (tmp_path / "params.yaml").write_text("a: [")
    with pytest.raises(ParamsError, match=r"is not valid YAML: .*line 1"):
        load(tmp_path / "params.yaml")
    (tmp_path / "params.yaml").write_bytes((ROOT / "params.yaml").read_text().encode("utf-16"))
    with pytest.raises(ParamsError, match=r"is not valid YAML: byte 0 is no UTF-8, in which it must be"):
        load(tmp_path / "params.yaml")
    with pytest.raises(ParamsError, match="not found: run this in the project's folder"):
        load(tmp_path / "nowhere.yaml")


SCALARS = (
    "[1e4, 1.0e-5, 1e-5, 0o17, 017, 0x1F, 1_000, .5, -.inf, .nan, yes, no, on, y, true, ~, null, 2001-01-01, 1:30, "
    "'1', \"é\"]"
)


@pytest.mark.parametrize(
    "text",
    [
        (ROOT / "params.yaml").read_text(),
        f"a: {SCALARS}\n",
        "a: &a {b: [1, 2], c: x}\nd: {<<: *a, c: y}\ne: *a\n",
        "a: |\n  two\n  lines\nb: >-\n  folded\n  lines\n? c\n: d\n",
        "{a: [[]], b: {}}\n",
        "a: " + "[" * 60 + "1" + "]" * 60 + "\n",  # deeper than the parser in C is trusted with
        "",
        "0\n",
    ],
    ids=["params.yaml", "scalars", "anchors", "blocks", "flow", "deep", "nothing", "zero"],
)
def test_both_parsers_find_the_same(tmp_path, text):
    (path := tmp_path / "a.yaml").write_text(text)
    assert repr(read_yaml(path)) == repr(YAML(typ="safe", pure=True).load(path))


def test_what_the_parser_in_c_refuses_is_said_in_the_words_of_the_other(tmp_path):
    (path := tmp_path / "a.yaml").write_text("a: 1\na: 2\n")
    with pytest.raises(ParamsError, match=r'in ".*a.yaml", line 1, column 1 found duplicate key "a"'):
        read_yaml(path)
