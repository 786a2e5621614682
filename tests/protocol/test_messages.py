from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.protocol.recordings import exchanges, names, needs_recordings

from anygame.language.terms import Compound, Constant, Term
from anygame.protocol.messages import (
    Abort,
    Info,
    Message,
    Ping,
    Play,
    PlayerInfo,
    PlayII,
    Preview,
    Start,
    Stop,
    StopII,
    Unreadable,
    format_info,
    format_message,
    parse_info,
    parse_message,
    player_name,
)

A = Constant("a")
MARK = Compound("mark", (Constant("1"), Constant("2")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("( INFO )", Info()),
        ("(info)", Info()),
        ("info", Info()),
        ("", Info()),
        (" \r\n ", Info()),
        ("(PING)", Ping()),
        ("(ping 77)", Ping("77")),
        ("ping", Ping()),
        ("( START M.1 a ((role a)) 30 10)", Start("M.1", A, "((role a))", 30, 10)),
        ("(start M.1 a((role a))30 10)", Start("M.1", A, "((role a))", 30, 10)),
        ("(START m a ((role a)) 30 10 extra (more fields))", Start("m", A, "((role a))", 30, 10)),
        ("(START m (mark 1 2) ((role a)) 1.5 0)", Start("m", MARK, "((role a))", 1.5, 0)),
        ("(PLAY m NIL)", Play("m", None)),
        ("(play m nil)", Play("m", None)),
        ("(Play m whatever)", Play("m", None)),
        ("(\nPLAY\tm\n((mark 1 2)a)\n)", Play("m", (MARK, A))),
        ("(PLAY m ())", Play("m", ())),
        ("(STOP m (a ( mark 1 2 ) ) )", Stop("m", (A, MARK))),
        ("(PLAY m 0 NIL NIL)", PlayII("m", 0, None, ())),
        ("(play m 3 (mark 1 2) ((mark 1 2) a))", PlayII("m", 3, MARK, (MARK, A))),
        ("(play m 3 a ())", PlayII("m", 3, A, ())),
        ("(STOP m 4 a (a))", StopII("m", 4, A, (A,))),
        ("(STOP m 4 a (a) more)", StopII("m", 4, A, (A,))),
        ("(ABORT m)", Abort("m")),
        ("(abort m now)", Abort("m")),
        ("(PREVIEW ((role a)) 5)", Preview("((role a))", 5)),
        ("(PREVIEW ((role a)))", Preview("((role a))", 0)),
    ],
)
def test_messages_are_read_in_any_case_and_spacing(text: str, message: Message) -> None:
    assert parse_message(text) == message


@pytest.mark.parametrize(
    ("text", "keyword", "reason"),
    [
        ("(START m a ((role a)) 30)", "START", "START takes 5 fields (match, role, rules, start clock, play"),
        ("(START m a rules 30 10)", "START", "expected the rules in a list, found rules"),
        ("(START m a ((role a)) ten 10)", "START", "expected a clock as a number of seconds, found ten"),
        ("(START m a ((role a)) -1 10)", "START", "expected a clock as a number of seconds, found -1"),
        ("(START m a ((role a)) 1e9 10)", "START", "expected a clock as a number of seconds"),
        (
            "(START (m) a ((role a)) 1 1)",
            "START",
            "expected a single word as the name of the match, found (m)",
        ),
        (
            f"(START {'m' * 300} a ((role a)) 1 1)",
            "START",
            "the name of the match has more than 256 characters",
        ),
        ("(PLAY m)", "PLAY", "PLAY takes 2 fields, or 4 in GDL-II, found 1"),
        ("(PLAY m a NIL)", "PLAY", "PLAY takes 2 fields, or 4 in GDL-II, found 3"),
        ("(PLAY m one a (a))", "PLAY", "expected the number of the turn, found one"),
        ("(PLAY m (() a))", "PLAY", "expected the name of a function and its arguments, found ()"),
        ("(PLAY m (a", "PLAY", "the message cannot be read: an opening parenthesis is never closed"),
        ("(PLAY m (a)))", "PLAY", "the message cannot be read: a closing parenthesis has no opening one"),
        ("(ABORT)", "ABORT", "ABORT takes 1 field (match), found 0"),
        ("(HELLO m)", "", "no message starts with HELLO"),
        ("hello there", "", "no message starts with hello"),
        ("()", "", "the message is an empty list"),
        ("(", "", "the message cannot be read: an opening parenthesis is never closed"),
        ("(" * 50_000, "", "the message cannot be read: an opening parenthesis is never closed"),
        ("(" * 100_000, "", "a message without rules has at most 65,536 characters, found 100,000"),
        (f"(PLAY m ({'go ' * 30_000}))", "PLAY", "characters, found 90,011"),
        (f"(PLAY m ({'go ' * 15_000}))", "PLAY", "list has 15,000 arguments; the limit is 10,000"),
        (f"(START m a {'()' * 2_000_000} 1 1)", "START", "more than 400,000 lists or 100,000 comments"),
        (f"(START m a {'()' * 20_000} 1 1)", "START", "more than 10,000 parts"),
        (";\n" * 200_000 + "(INFO)", "", "characters, found 400,006"),
        (f"(START m a ({';)' * 200_000}))", "START", "more than 400,000 lists or 100,000 comments"),
        ("((INFO))", "", "no message starts with (INFO)"),
        (f"(PLAY m ({'(a ' * 400}{')' * 401})", "PLAY", "lists are nested more than 150 deep"),
        (f"(PLAY m ((f {'a ' * 30_000})))", "PLAY", "f has 30,000 arguments; the limit is 10,000"),
        (f"(PLAY m ({'a' * 5000}))", "PLAY", "a token has 5,000 characters; the limit is 4,096"),
    ],
)
def test_an_invalid_message_is_unreadable_and_has_a_reason(text: str, keyword: str, reason: str) -> None:
    found = parse_message(text)
    assert isinstance(found, Unreadable)
    assert found.keyword == keyword
    assert reason in found.reason
    assert len(found.reason) < 300


@needs_recordings
@pytest.mark.parametrize("name", [name for name in names() if not name.startswith("player_edge")])
def test_recorded_requests_are_understood_and_written_alike(name: str) -> None:
    assert exchanges(name)
    for exchange in exchanges(name):
        found = parse_message(exchange.text)
        assert not isinstance(found, Unreadable), found
        assert format_message(found) == exchange.text


ATOMS = st.text("abXY01_+-.>", min_size=1, max_size=5).map(Constant)
TERMS: st.SearchStrategy[Term] = st.recursive(
    ATOMS,
    lambda inner: st.builds(
        lambda name, arguments: Compound(str(name), tuple(arguments)),
        ATOMS,
        st.lists(inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)
IDS = st.text("aZ09._-", min_size=1, max_size=8)
TURNS = st.integers(0, 10**6)
LISTS = st.lists(TERMS, max_size=4).map(tuple)
MESSAGES: st.SearchStrategy[Message] = st.one_of(
    st.builds(Info),
    st.builds(Ping, st.none() | IDS),
    st.builds(Abort, IDS),
    st.builds(Play, IDS, st.none() | LISTS),
    st.builds(Stop, IDS, st.none() | LISTS),
    st.builds(PlayII, IDS, TURNS, TERMS, LISTS),
    st.builds(StopII, IDS, TURNS, TERMS, LISTS),
    st.builds(PlayII, IDS, st.just(0), st.none(), st.just(())),
)


@given(MESSAGES)
def test_a_formatted_message_is_parsed_without_changes(message: Message) -> None:
    assert parse_message(format_message(message)) == message


@given(LISTS, IDS, TERMS, st.integers(0, 1000), st.integers(0, 1000))
def test_starts_are_read_again(
    facts: tuple[Term, ...], match_id: str, role: Term, start_clock: int, play_clock: int
) -> None:
    rules = "(" + " ".join(f"(init {fact})" for fact in facts) + ")"
    found = parse_message(format_message(Start(match_id, role, rules, start_clock, play_clock)))
    assert isinstance(found, Start)
    assert (found.match_id, found.role) == (match_id, role)
    assert (found.start_clock, found.play_clock) == (start_clock, play_clock)
    assert found.rules.replace(" ", "") == rules.replace(" ", "")


@given(st.text(max_size=60) | st.text("()INFOPLAYSTARnil 01.;", max_size=60))
def test_nothing_makes_reading_fail(text: str) -> None:
    message = parse_message(text)
    if not isinstance(message, Unreadable):
        again = (
            parse_message(format_message(message)) if not isinstance(message, Start | Preview) else message
        )
        assert again == message


@pytest.mark.parametrize(
    ("text", "info"),
    [
        ("( ( name Alice ) ( status available ) )", PlayerInfo("Alice", "available", None)),
        ("((STATUS Busy)(Species human)(name B))", PlayerInfo("B", "busy", "human")),
        ("( junk ( a b c ) ( status busy ) ( name X ) )", PlayerInfo("X", "busy", None)),
        ("busy", PlayerInfo(None, "busy", None)),
        ("available", PlayerInfo(None, "available", None)),
        ("ready", PlayerInfo(None, "available", None)),
        ("READY\r\n", PlayerInfo(None, "available", None)),
        ("nil", PlayerInfo(None, "busy", None)),
        ("( )", PlayerInfo(None, None, None)),
        ("(", PlayerInfo(None, None, None)),
        ("", PlayerInfo(None, None, None)),
        ("<html>", PlayerInfo(None, None, None)),
    ],
)
def test_descriptions_of_players_are_read_in_all_forms(text: str, info: PlayerInfo) -> None:
    assert parse_info(text) == info


@given(st.builds(PlayerInfo, IDS, st.sampled_from(["available", "busy"]), st.none() | st.just("alien")))
def test_descriptions_of_players_are_read_again(info: PlayerInfo) -> None:
    assert parse_info(format_info(info)) == info


@pytest.mark.parametrize(
    ("text", "name"),
    [("Bob", "Bob"), ("a b(c)", "a_b_c"), ("", "anygame"), ("ü", "anygame"), ("x" * 99, "x" * 60)],
)
def test_names_are_one_word(text: str, name: str) -> None:
    assert player_name(text) == name
