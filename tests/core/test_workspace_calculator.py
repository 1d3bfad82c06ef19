"""`calculate`: arithmetic, bounded, and nothing else (decision B7)."""

import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from copilot_contracts import Registry
from copilot_core.tools.workspace.calculator import calculate

RESULT = Registry.bundled().surface("chatbot").contract("mcp_return", "calculate")

RESULTS: dict[str, Any] = {
    "2 ** 10": 1024,
    "1 / 4": 0.25,
    "7 // 2": 3,
    "-7 % 3": 2,
    "-(1 + 2) * 3": -9,
    " 1 +\n 2 ": 3,
    "1_000 + 1e3": 2000.0,
    "0x10": 16,
    "2 ** -1": 0.5,
    "2 ** 53": 9007199254740992.0,
    "2 ** 53 - 1": 9007199254740991,
    "-(2 ** 53 - 1)": -9007199254740991,
    "2 ** 200 % 7": 4,
    "factorial(20) // factorial(18)": 380,
    "1 ** (10 ** 300)": 1,
    "(-1) ** (10 ** 300 + 1)": -1,
    "sqrt(16)": 4.0,
    "cbrt(-8)": -2.0,
    "log(8, 2)": 3.0,
    "log10(1000)": 3.0,
    "log2(8)": 3.0,
    "round(2.675, 2)": 2.67,
    "round(2.5)": 2,
    "max(1, 2, 3) - min(1, 2)": 2,
    "sum(1, 2, 3)": 6,
    "gcd(12, 18) + lcm(4, 6)": 18,
    "hypot(3, 4)": 5.0,
    "floor(-0.5) + ceil(0.5) + trunc(1.9)": 1,
    "abs(3 - 4j)": 5.0,
    "degrees(pi)": 180.0,
    "pow(2, 3)": 8,
    "e ** 0": 1.0,
}


@pytest.mark.parametrize("expression", RESULTS)
def test_result(expression: str) -> None:
    told = calculate(expression)
    assert told == {
        "expression": expression,
        "result": RESULTS[expression],
        "type": type(RESULTS[expression]).__name__,
    }
    assert type(told["result"]) is type(RESULTS[expression])


@pytest.mark.parametrize(
    ("expression", "re", "im"),
    [("(-1) ** .5", 0, 1), ("sqrt(-4)", 0, 2), ("1j * 1j", -1, 0), ("log(-1)", 0, math.pi)],
)
def test_a_complex_result_has_two_parts(expression: str, re: float, im: float) -> None:
    told = calculate(expression)
    assert told["type"] == "complex"
    assert told["result"] == pytest.approx({"re": re, "im": im})


TOO_LARGE = "The result is too large."
ONLY = "Only numbers, operators, brackets and functions can be calculated."
REFUSED = {
    "9**9**9": TOO_LARGE,
    "9**9**9**9**9": TOO_LARGE,
    "(-9)**9**9": TOO_LARGE,
    "pow(9, 9**9)": TOO_LARGE,
    "2**4097": TOO_LARGE,
    "2**4000 * 2**4000": TOO_LARGE,
    "2**1100": TOO_LARGE,  # no double, nor a whole number that is told
    "2**4000 / 3": TOO_LARGE,
    "factorial(10**6)": TOO_LARGE,
    "factorial(4096)": TOO_LARGE,
    "1e999": TOO_LARGE,
    "-1e999": TOO_LARGE,
    "1e999 - 1e999": TOO_LARGE,
    "1e999j": TOO_LARGE,
    "1e308 * 10": TOO_LARGE,
    "(1e200 + 1e200j) ** 9": TOO_LARGE,
    "exp(1000)": TOO_LARGE,
    "1 / 0": "That divides by zero.",
    "0 ** -1": "That divides by zero.",
    "5 % 0": "That divides by zero.",
    "round(1, 10**9)": "round takes at most 300 places.",
    "round(1, -10**9)": "round takes at most 300 places.",
    "2 ^ 10": "A power is written with **.",
    "__import__('os')": ONLY,
    "'a' * 10**9": ONLY,
    "[0] * 10**9": ONLY,
    "1 if 1 == 1 else 2": ONLY,
    "1 << 100000": ONLY,
    "a := 1": ONLY,
    "1\0": ONLY,
    "\ud800": ONLY,
    "1 + ١": ONLY,  # noqa: RUF001 - a digit, but not one of ours
    "1 if 2 else 3": "Only arithmetic can be calculated.",
    "1, 2": "Only arithmetic can be calculated.",
    "True": "Only arithmetic can be calculated.",
    "not 1": "Only arithmetic can be calculated.",
    "lambda x, y. x": "That isn't an arithmetic expression.",
    "pi.real": "Only arithmetic can be calculated.",
    "sqrt(*pi)": "Only arithmetic can be calculated.",
    "sqrt": "Only arithmetic can be calculated.",
    "sqrt(sqrt)": "Only arithmetic can be calculated.",
    "pi()": "Only arithmetic can be calculated.",
    "exit()": "There is no exit.",
    "__builtins__": "There is no __builtins__.",
    "sqrt()": "A function or an operator was given what it doesn't take.",
    "log(0)": "A function or an operator was given what it doesn't take.",
    "1j % 2": "A function or an operator was given what it doesn't take.",
    "max()": "A function or an operator was given what it doesn't take.",
    "gcd(0.5)": "A function or an operator was given what it doesn't take.",
    "factorial(2.5)": "A function or an operator was given what it doesn't take.",
    "factorial(-1)": "A function or an operator was given what it doesn't take.",
    "round(1, 1.5)": "A function or an operator was given what it doesn't take.",
    "": "That isn't an arithmetic expression.",
    "1 +": "That isn't an arithmetic expression.",
    "(" * 500 + "1" + ")" * 499: "That isn't an arithmetic expression.",
    "(" * 400 + "1" + ")" * 400: "That isn't an arithmetic expression.",
    "1" * 1001: "The expression is longer than 1000 characters.",
    "-" * 999 + "1": "The expression is too deep.",
}


@pytest.mark.parametrize("expression", REFUSED, ids=lambda text: ascii(text)[:30])
def test_refused_at_once(expression: str) -> None:
    began = time.monotonic()
    told = calculate(expression)
    assert time.monotonic() - began < 0.5
    assert told["expression"] == expression
    assert told.keys() == {"expression", "error"}
    assert told["error"].startswith(REFUSED[expression])


def test_a_long_sum_is_not_too_deep() -> None:
    assert calculate("1" + "+1" * 200)["result"] == 201


TOKENS = st.sampled_from(
    [*"019+-*/%(),", "2.5", "1e308", "1j", "(1)", "//", "**", "pi", "sqrt", "round", "factorial"]
) | st.sampled_from(["log", "max", "gcd", "pow", "atan2", "__class__", "e", " "])


@given(st.lists(TOKENS, max_size=40).map("".join) | st.text(max_size=40))
def test_whatever_is_asked_the_answer_keeps_its_contract(expression: str) -> None:
    began = time.monotonic()
    assert RESULT.violation(calculate(expression)) is None
    assert time.monotonic() - began < 1
