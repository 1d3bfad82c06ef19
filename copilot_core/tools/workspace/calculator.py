"""Arithmetic that somebody else wrote, in bounded time (decision B7).

The text is parsed, never run: what isn't a number, an operator or a function of the tables below
is refused, and whole numbers don't grow beyond `_BITS`.
"""

from __future__ import annotations

import ast
import cmath
import math
import operator
import re
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from copilot_core.ports import JsonObject

Number: TypeAlias = int | float | complex

_LONGEST = 1000
#: Of a whole number on the way; the result has those that every JSON reader holds.
_BITS, _RESULT_BITS = 4096, 53
#: How far from the point `round` may go.
_PLACES = 300
_ALPHABET = re.compile(r"[0-9A-Za-z_+\-*/%().,\s]*")


class _Refused(Exception):
    """The sentence says why there is no result."""


def calculate(expression: str) -> JsonObject:
    """``{expression, result, type}``, or ``{expression, error}``. Never raises.

    A complex result is ``{re, im}``; a whole number beyond 2**53 is a float.
    """
    try:
        return {"expression": expression, **_told(_value(_parsed(expression)))}
    except _Refused as refused:
        error = str(refused)
    except ZeroDivisionError:
        error = "That divides by zero."
    except OverflowError:
        error = "The result is too large."
    except (ValueError, TypeError):
        error = "A function or an operator was given what it doesn't take."
    except (RecursionError, MemoryError):
        error = "The expression is too deep."
    return {"expression": expression, "error": error}


def _parsed(expression: str) -> ast.expr:
    if len(expression) > _LONGEST:
        raise _Refused(f"The expression is longer than {_LONGEST} characters.")
    if "^" in expression:
        raise _Refused("A power is written with **.")
    if not _ALPHABET.fullmatch(expression):
        raise _Refused("Only numbers, operators, brackets and functions can be calculated.")
    try:
        return ast.parse(" ".join(expression.split()), mode="eval").body
    except SyntaxError as error:
        raise _Refused("That isn't an arithmetic expression.") from error


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() | complex() as value) if not isinstance(
            value, bool
        ):
            return _bounded(value)
        case ast.Name(id=name) if name in _CONSTANTS:
            return _CONSTANTS[name]
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _SIGNS:
            return _SIGNS[type(sign)](_value(operand))
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in _OPERATORS:
            return _bounded(_OPERATORS[type(sign)](_value(left), _value(right)))
        case ast.Call(func=ast.Name(id=name), args=given, keywords=[]) if name in _FUNCTIONS:
            return _bounded(_FUNCTIONS[name](*map(_value, given)))
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)) if name not in _KNOWN:
            raise _Refused(f"There is no {name:.40}. There are: {', '.join(_KNOWN)}.")
        case _:
            raise _Refused("Only arithmetic can be calculated.")


def _bounded(value: Number) -> Number:
    if value.bit_length() > _BITS if isinstance(value, int) else not cmath.isfinite(value):
        raise OverflowError
    return value


def _told(value: Number) -> JsonObject:
    if isinstance(value, int) and value.bit_length() > _RESULT_BITS:
        value = float(value)
    if isinstance(value, complex):
        return {"result": {"re": value.real, "im": value.imag}, "type": "complex"}
    return {"result": value, "type": type(value).__name__}


def _power(base: Any, exponent: Any) -> Number:
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and (base.bit_length() - 1) * exponent > _BITS:
        raise OverflowError
    power: Number = base**exponent
    return power


def _factorial(number: Number) -> int:
    if isinstance(number, int) and number > _BITS:
        raise OverflowError
    return math.factorial(number)  # type: ignore[arg-type]  # raises TypeError


def _round(number: Any, places: int = 0) -> Number:
    if abs(places) > _PLACES:
        raise _Refused(f"round takes at most {_PLACES} places.")
    rounded: Number = round(number, places) if places else round(number)
    return rounded


def _or_complex(real: Callable[..., float], full: Callable[..., complex]) -> Callable[..., Number]:
    """The real function; where it has no value, the complex one."""

    def function(*numbers: Number) -> Number:
        try:
            return real(*numbers)
        except (ValueError, TypeError):
            return full(*numbers)

    return function


_CONSTANTS = {"pi": math.pi, "e": math.e, "tau": math.tau}
_SIGNS: dict[type[ast.unaryop], Callable[[Number], Number]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}
_BOTH = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp"),
    *("log", "log10", "sin", "sinh", "sqrt", "tan", "tanh"),
)
_FUNCTIONS: dict[str, Callable[..., Number]] = {
    **{name: _or_complex(getattr(math, name), getattr(cmath, name)) for name in _BOTH},
    "abs": abs,
    "atan2": math.atan2,
    "cbrt": math.cbrt,
    "ceil": math.ceil,
    "degrees": math.degrees,
    "factorial": _factorial,
    "floor": math.floor,
    "gcd": math.gcd,
    "hypot": math.hypot,
    "lcm": math.lcm,
    "log2": math.log2,
    "max": lambda *numbers: max(numbers),
    "min": lambda *numbers: min(numbers),
    "pow": _power,
    "radians": math.radians,
    "round": _round,
    "sum": lambda *numbers: sum(numbers),
    "trunc": math.trunc,
}
_KNOWN = sorted({*_CONSTANTS, *_FUNCTIONS})
