"""Quizzes by the conventions of libraries for language models, tested by the checks of these libraries."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

import anygame
from anygame.quiz import Question, questions
from anygame.quiz.adapters.kaggle import GameHarness

if TYPE_CHECKING:
    from pathlib import Path

_DETAILS = ("prompt_tokens", "generation_tokens", "total_tokens", "finish_reason", "duration_secs")


def test_kaggle_functions_follow_the_rules() -> None:
    game = anygame.load("tic_tac_toe")
    harness = GameHarness(game)
    state = game.initial_state().next(["(mark 1 1)", "noop"])
    seen = harness.observation(state, "o")
    assert (seen["playerId"], seen["currentPlayer"], seen["isTerminal"]) == (1, 1, False)
    legal = harness.get_legal_moves(seen)
    assert list(legal.values()) == list(map(str, state.legal_moves("o")))
    assert json.loads(json.dumps(seen))["legalActionStrings"] == list(legal.values())
    for reply in ("Corner: ```\n(mark 3 3)\n```", "Answer: mark(3,3).", "I take (mark 2 2); no, (mark 3 3)"):
        assert (
            harness.parse_response(reply, list(legal.values()), observation=seen).legal_action == "(mark 3 3)"
        )
    taken = harness.parse_response("```\n(mark 1 1)\n```", list(legal.values()), observation=seen)
    assert (taken.legal_action, taken.raw_action) == (None, "(mark 1 1)")
    assert harness.parse_response("Hm.", list(legal.values())).raw_action is None
    first = harness.generate_prompt(seen, ["(mark 2 2)"])
    assert "(cell 1 1 x)" in first
    assert "The moves of o so far: (mark 2 2)" in first
    second = harness.generate_prompt(seen, [], "```\n(mark 1 1)\n```", "(mark 1 1)")
    assert second.startswith(harness.generate_prompt(seen, []))
    assert "fails  (true (cell 1 1 b))" in second
    assert "ended with:\nHm." in harness.generate_prompt(seen, [], "Hm.", None)
    assert "You answered ((, which is not legal" in harness.generate_prompt(seen, [], "((", "((")


def test_roles_that_choose_at_once_are_all_current() -> None:
    game = anygame.load("rock_paper_scissors")
    assert GameHarness(game).observation(game.initial_state(), "left")["currentPlayer"] == -2


def test_kaggle_plays_by_its_own_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    core = pytest.importorskip(
        "kaggle_environments.core_harness", reason="kaggle-environments is not installed"
    )
    game = anygame.load("tic_tac_toe")
    harness = GameHarness(game)
    prompts: list[str] = []
    replies = iter(["```\n(mark 4 4)\n```", "```\n(mark 2 2)\n```"])

    def call(prompt: str, *_: object) -> tuple[str, dict[str, Any]]:
        prompts.append(prompt)
        return next(replies), dict.fromkeys(_DETAILS)

    monkeypatch.setattr(core, "_call_llm", call)
    play = core.create_agent_fn(harness, model_override=("none", {}))
    found = play(harness.observation(game.initial_state(), "x"), {})
    assert (found["status"], found["actionString"], found["submission"]) == ("OK", "(mark 2 2)", 4)
    assert "fails  (true (cell 4 4 b))" in prompts[1]


def test_reasoning_gym_makes_and_scores_questions() -> None:
    gym = pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed")
    from reasoning_gym.factory import create_curriculum

    import anygame.quiz.adapters.reasoning_gym as ours

    options: dict[str, Any] = {"sheets": ["tic_tac_toe", "pig"], "size": 24, "seed": 3, "scramble": "words"}
    made = gym.create_dataset("anygame_quiz", **options)
    assert isinstance(made, gym.dataset.ProceduralDataset)
    items = list(made)
    assert items == list(gym.create_dataset("anygame_quiz", **options))
    assert made[5] == items[5]
    assert [made.score_answer(item["answer"], item) for item in items] == [1.0] * 24
    assert [made.score_answer(answer, items[0]) for answer in (None, "", "no idea")] == [0.0] * 3
    assert len({item["question"] for item in items}) == 24
    assert create_curriculum(ours.NAME).generate_configuration({"size": 2}).depth == 2
    with pytest.raises(AssertionError, match="kinds must be of"):
        gym.create_dataset("anygame_quiz", kinds=["odd"])
    with pytest.raises(IndexError):
        made[24]
    composite = gym.create_dataset(
        "composite",
        size=4,
        seed=1,
        datasets=[gym.composite.DatasetSpec("anygame_quiz", 1.0, {"sheets": ["pig"], "size": 4})],
    )
    assert [composite.score_answer(item["answer"], item) for item in composite] == [1.0] * 4


@pytest.mark.slow
def test_verifiers_validates_every_task(tmp_path: Path) -> None:
    pytest.importorskip("verifiers.v1", reason="verifiers is not installed")
    from anygame.quiz.adapters.verifiers import QuizTaskConfig, QuizTaskset, QuizTasksetConfig

    tasks = list(QuizTaskset(QuizTasksetConfig(count=8, seed=2)))
    asked = list(questions([anygame.load("tic_tac_toe")], count=8, seed=2))
    assert [Question.from_json(task.data.question) for task in tasks] == asked
    assert tasks[0].toolsets(QuizTaskConfig()) == []
    (tools,) = tasks[0].toolsets(QuizTaskConfig.model_validate({"tools": {"url": "http://127.0.0.1:1/mcp"}}))
    assert tools.config.url == "http://127.0.0.1:1/mcp"
    module = "from anygame.quiz.adapters.verifiers import QuizTaskset\n__all__ = ['QuizTaskset']\n"
    (tmp_path / "anygame_quiz.py").write_text(module)
    code = "import sys; sys.path.insert(0, '.'); from verifiers.v1.cli.validate import main; main()"
    options = ["--taskset.count", "8", "--runtime.type", "subprocess", "--rich", "false"]
    subprocess.run(
        [sys.executable, "-c", code, "anygame-quiz", *options], cwd=tmp_path, check=True, timeout=200
    )
    (summary,) = tmp_path.rglob("summary.json")
    told = json.loads(summary.read_text())
    assert (told["total"], told["outcomes"]["valid"]) == (8, 8)


def test_openenv_asks_and_grades() -> None:
    pytest.importorskip("openenv.core", reason="openenv is not installed")
    from anygame.quiz.adapters.openenv import QuizEnvironment, Reply

    env = QuizEnvironment(["tic_tac_toe"], count=3, tries=2, kinds=["legal"], seed=4)
    expected = list(questions([anygame.load("tic_tac_toe")], kinds=["legal"], count=3, seed=4))
    seen = env.reset(episode_id="one")
    assert seen.question == expected[0].prompt
    assert (env.state.episode_id, env.state.step_count) == ("one", 0)
    first = env.step(Reply(reply="```\n(mark 9 9)\n```"))
    assert (first.done, first.reward, first.feedback) == (False, 0.0, "wrong: (mark 9 9)")
    last = env.step(Reply(reply=", ".join(expected[0].answer)))
    assert (last.done, last.reward, last.feedback, env.state.step_count) == (True, 1.0, "right", 2)
    assert env.reset(index=2).question == expected[2].prompt
    assert env.reset().question == expected[0].prompt
    with pytest.raises(IndexError):
        env.reset(index=3)


@pytest.mark.slow
def test_openenv_validates_a_running_server() -> None:
    pytest.importorskip("openenv.core", reason="openenv is not installed")
    import uvicorn
    from openenv.cli._validation import validate_running_environment

    from anygame.quiz.adapters.openenv import quiz_app

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(quiz_app(["pig"]), port=port, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.05)
    try:
        assert validate_running_environment(f"http://127.0.0.1:{port}")["passed"]
    finally:
        server.should_exit = True
        thread.join(10)


@pytest.mark.parametrize("library", ["reasoning_gym", "verifiers", "openenv"])
def test_a_missing_library_is_named_with_its_extra(library: str) -> None:
    extra = library.replace("_", "-")
    code = (
        f"import sys; sys.modules[{library!r}] = None\n"
        "from anygame import MissingExtraError\n"
        f"try:\n import anygame.quiz.adapters.{library}\n"
        "except MissingExtraError as error: print(error.extra, error, sep='|')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout.strip().split("|") == [
        extra,
        f"this needs {extra}, which is not installed: pip install 'anygame[{extra}]'",
    ]
