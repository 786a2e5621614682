from __future__ import annotations

from anygame.language import format_program, format_rule, parse_program

MESSY = """
(ROLE white)(role black) (init (control white)) ; who begins
(<= (next (control ?r)) (true (control ?s)) (role ?r) (distinct ?r ?s))
(<= (next ?f)
(true ?f)
(not changed)) (<= (open) (or (true (cell 1 1 blank)) (true (cell 1 2 blank))
(not (or (true (cell 1 3 white)) (true (cell 1 3 black))))))
terminal
"""

NEAT = """\
(role white)
(role black)

(init (control white))

(<= (next (control ?r))
    (true (control ?s))
    (role ?r)
    (distinct ?r ?s))
(<= (next ?f)
    (true ?f)
    (not changed))

(<= open
    (or (true (cell 1 1 blank))
        (true (cell 1 2 blank))
        (not (or (true (cell 1 3 white)) (true (cell 1 3 black))))))

terminal
"""


def test_layout() -> None:
    program = parse_program(MESSY)
    assert format_program(program) == NEAT
    assert format_program(parse_program(NEAT)) == NEAT
    assert parse_program(NEAT) == program


def test_a_long_negation_is_broken_inside() -> None:
    names = " ".join(f"(relation{index} ?x)" for index in range(8))
    rule = parse_program(f"(role a) (<= p (not (or {names})))").rules[1]
    lines = format_rule(rule).splitlines()
    assert lines[:3] == ["(<= p", "    (not (or (relation0 ?x)", "             (relation1 ?x)"]
    assert lines[-1] == "             (relation7 ?x))))"
