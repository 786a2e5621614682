"""What is shown of names: what they are, what their arguments may be, how many rules there are."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.language_server.places import GAME, INFIX, MARK, domains, marked

from anygame.datalog.reasoner import Reasoner
from anygame.datalog.schema import ACTION, STATE, STATIC
from anygame.language.parser import parse_program
from anygame.language_server.completing import signature
from anygame.language_server.documents import Lines
from anygame.language_server.findings import DomainTable, Values
from anygame.language_server.meanings import code, hover, kind_of, values_text
from anygame.language_server.navigating import TYPES, colours, folds, outline
from anygame.language_server.sheet import WrittenSheet, is_keyword


def _told(before: str, after: str, text: str = GAME, name: str = "game.kif") -> str:
    assert before + after in text
    sheet, offset = marked(text.replace(before + after, before + MARK + after, 1), name)
    found = hover(sheet, offset, domains(text, name))
    return found.plain if found else ""


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("(ind", "ex 1)", "(index ?n) static relation\n?n: 1, 2, 3\n3 facts, 1 other place"),
        ("(<= op", "en", "open view of the state\n1 rule, 1 other place"),
        (
            "(<= (mar",
            "ked",
            "(marked ?n) view of the state and the moves\n?n: 1, 2, 3\n1 rule, 1 other place",
        ),
        (
            "(true (ce",
            "ll ?n b)",
            "(cell ?n ?player) fluent\n?n: 1, 2, 3\n?player: b, black, white\n2 rules, 3 ",
        ),
        (
            "(legal ?player (ma",
            "rk",
            "(mark ?n) move\n?n: 1, 2, 3\n1 rule, 2 other places\nWho is in control\nmarks",
        ),
        ("(legal ?player no", "op", "noop move\n1 rule"),
        ("(role wh", "ite", "white role\n4 other places\nWho plays."),
        ("(cell 1 ", "b)", "b constant"),
        ("(next (cell ?n ?pl", "ayer)", "?player variable\ncan be black, white"),
        ("(not (mark", "ed ?n))", "(marked ?n) view"),
    ],
)
def test_hover_explains_the_name_at_the_cursor(before: str, after: str, told: str) -> None:
    assert _told(before, after).startswith(told)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("(le", "gal", "(legal role move) keyword\nDefines a legal move of a role."),
        ("<", "= (legal", "(<= head formula ...) keyword\nA rule"),
        ("(no", "t op", "(not formula) keyword"),
        ("ter", "minal", "terminal keyword\nDefines when the game is over."),
    ],
)
def test_hover_explains_keywords(before: str, after: str, told: str) -> None:
    assert _told(before, after).startswith(told)


def test_hover_in_the_infix_form() -> None:
    assert _told("oth", "er(P,Q)", INFIX, "game.hrf").startswith(
        "other(P,Q) static relation\nP: black, white\nQ: black, white\n2 facts, 1 other place"
    )
    assert _told("legal(P,'Wa", "it'", INFIX, "game.hrf").startswith("'Wait' move")


def test_hover_reports_a_variable_that_no_literal_binds() -> None:
    told = _told("(legal x (go ?", "n))", "(role x) (<= (legal x (go ?n)) (not (p ?n)))")
    assert told == "?n variable\nno positive literal of the body binds this variable"


def test_domains_of_a_broken_text_are_those_known_before() -> None:
    table = domains(GAME)
    sheet, offset = marked(f"{GAME}(<= (lost ?p) (true (cell ?¦n ?p)")
    found = hover(sheet, offset, table)
    assert found
    assert found.plain == "?n variable\ncan be 1, 2, 3"


def test_names_of_strangers_stay_names() -> None:
    evil = "<img/onerror=`x`>"
    sheet, offset = marked(f"; [click](http://x) <b> `c`\n(role {MARK}{evil})")
    found = hover(sheet, offset, DomainTable())
    assert found
    assert found.markdown.startswith(f"``{evil}`` role")
    assert "\\[click\\]\\(http://x\\) \\<b\\> \\`c\\`" in found.markdown
    assert code("`a`") == "`` `a` ``"


def test_comments_and_gaps_have_no_hover() -> None:
    for text in ("; ro¦le\n(role x)", "(role x) ¦ (role y)", "¦", ";¦"):
        sheet, offset = marked(text)
        assert hover(sheet, offset, DomainTable()) is None


def test_many_values_are_counted() -> None:
    numbers = Values({str(number) for number in range(20)})
    assert values_text(numbers) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more"
    assert values_text(Values({"a"}, {("f", 2)}, complete=False)) == "(f ...), a and many more"


def test_tables_of_domains_go_from_one_process_to_another() -> None:
    table = domains(GAME)
    again = DomainTable.from_json(table.as_json())
    assert again.as_json() == table.as_json()
    assert again.at(("true", 1, 0, ("cell", 2), 0)).constants == {"1", "2", "3"}


# -- signatures ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "label", "active"),
    [
        ("(cell 1 ¦", "(cell ?n ?player)", 1),
        ("(true (cell ¦", "(cell ?n ?player)", 0),
        ("(legal ¦", "(legal ?role ?move)", 0),
        ("(legal white (mark ¦", "(mark ?n)", 0),
        ("(legal white (mark 1) ¦", "(legal ?role ?move)", 2),
    ],
)
def test_the_signature_has_the_pattern_and_the_active_argument(typed: str, label: str, active: int) -> None:
    text = f"{GAME}\n(<= (next {typed}" if typed.startswith("(cell") else f"{GAME}\n(<= {typed}"
    sheet, offset = marked(text)
    found = signature(sheet, offset, domains(GAME))
    assert (found[0].label, found[0].active) == (label, active)
    for start, end, _ in found[0].arguments:
        assert found[0].label[start:end].startswith("?")


def test_signatures_list_possible_arguments() -> None:
    sheet, offset = marked(f"{INFIX}\nlost(X) :- other(X,¦", "game.hrf")
    (found,) = signature(sheet, offset, domains(INFIX, "game.hrf"))
    assert found.label == "other(P,Q)"
    assert [found.label[start:end] for start, end, _ in found.arguments] == ["P", "Q"]
    assert [told for _, _, told in found.arguments] == ["black, white"] * 2


# -- outline, folding, colours -----------------------------------------------------------------------


def test_the_outline_groups_rules_by_their_heads() -> None:
    entries = outline(WrittenSheet("game.kif", GAME))
    assert [(each.name, each.detail, each.kind, len(each.children)) for each in entries] == [
        ("(role ?role)", "2 facts", "keyword", 0),
        ("(index ?n)", "3 facts", "relation", 0),
        ("init (cell ?n ?player)", "3 facts", "fluent", 0),
        ("init (control ?player)", "1 fact", "fluent", 0),
        ("legal (mark ?n)", "1 rule", "move", 0),
        ("legal noop", "1 rule", "move", 0),
        ("next (cell ?n ?player)", "2 rules", "fluent", 2),
        ("(marked ?n)", "1 rule", "view", 0),
        ("next (control ?player)", "2 rules", "fluent", 2),
        ("open", "1 rule", "view", 0),
        ("terminal", "1 rule", "keyword", 0),
        ("(goal ?role ?value)", "2 rules", "keyword", 2),
    ]
    for entry in entries:
        assert entry.range.start <= entry.selection.start < entry.selection.end <= entry.range.end


def test_the_outline_of_a_broken_text() -> None:
    sheet = WrittenSheet("game.kif", "(role x)\n(<= (legal x go\n(init (step 1))\n(<=\n()")
    assert [each.name for each in outline(sheet)] == ["(role ?role)", "legal go", "init (step ?arg1)"]


def test_rules_and_comments_fold() -> None:
    lines = Lines(GAME)
    found = list(folds(WrittenSheet("game.kif", GAME), lines))
    assert (10, 12, False) in found
    assert (8, 9, True) in found
    assert (0, 0, True) not in found


def test_colours_are_counted_in_units_of_the_editor() -> None:
    text = "; \N{GAME DIE}\n(role \N{GAME DIE}x) (<= (next (p ?x)) (true (p ?x)))"
    numbers = list(colours(WrittenSheet("game.kif", text), Lines(text)))
    tokens = [tuple(numbers[place : place + 5]) for place in range(0, len(numbers), 5)]
    assert [(line, unit, width, TYPES[kind]) for line, unit, width, kind, _ in tokens] == [
        (0, 0, 4, "comment"),
        (1, 1, 4, "keyword"),
        (0, 5, 3, "enumMember"),
        (0, 6, 2, "operator"),
        (0, 4, 4, "keyword"),
        (0, 6, 1, "property"),
        (0, 2, 2, "variable"),
        (0, 6, 4, "keyword"),
        (0, 6, 1, "property"),
        (0, 2, 2, "variable"),
    ]


def test_a_part_of_a_sheet_can_be_coloured() -> None:
    sheet, lines = WrittenSheet("game.kif", GAME), Lines(GAME)
    start = GAME.index("(index")
    part = list(colours(sheet, lines, start, start + 5))
    assert part == [3, 1, 5, TYPES.index("function"), 1]


# -- what relations depend on --------------------------------------------------------------------------------

_GDL = Path(__file__).parents[2] / "gdl"
_LEVELS = {STATIC: "static relation", STATE: "view of the state", ACTION: "view of the state and the moves"}


def test_relations_that_depend_on_legal_moves_depend_on_the_state() -> None:
    rules = """
        (role me) (init (at 1)) (<= (legal me go) (true (at 1)))
        (<= can (legal me go)) (<= (others ?r) (role ?r) (not can))
        (<= over terminal) (<= terminal (true (at 2))) (<= (goal me 1) over)
        (<= (moved ?f) (next ?f)) (<= (next (at 2)) (does me go)) (<= (player ?r) (role ?r))
    """
    sheet = WrittenSheet("game.kif", rules)
    told = {symbol.name: kind_of(sheet, symbol) for symbol in sheet.heads if not is_keyword(symbol)}
    assert told == {
        "can": _LEVELS[STATE],
        "others": _LEVELS[STATE],
        "over": _LEVELS[STATE],
        "moved": _LEVELS[ACTION],
        "player": _LEVELS[STATIC],
    }


def _compare_with_the_reasoner(path: Path) -> int:
    """Compare what is told of every relation of a sheet; return how many there are."""
    text = path.read_text("utf-8")
    reasoner = Reasoner(parse_program(text))
    sheet = WrittenSheet(path.name, text)
    count = 0
    for symbol in sheet.heads:
        if is_keyword(symbol):
            continue
        relations = reasoner.layout.variants((symbol.name, symbol.arity))
        level = max([reasoner.schema.level(relation) for relation in relations], default=STATIC)
        assert kind_of(sheet, symbol) == _LEVELS[level], (path.stem, symbol)
        count += 1
    return count


@pytest.mark.parametrize("path", sorted(_GDL.glob("*.kif")), ids=lambda path: path.stem)
def test_dependencies_of_relations_agree_with_the_reasoner(path: Path) -> None:
    assert _compare_with_the_reasoner(path)


@pytest.mark.slow
def test_dependencies_in_public_sheets_agree_with_the_reasoner(corpus: Path) -> None:
    assert sum(map(_compare_with_the_reasoner, sorted((corpus / "rules").glob("*.kif"))))
