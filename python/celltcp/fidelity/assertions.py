"""Assertions on TCP_INFO in packetdrill scripts: safe evaluation of their Python code."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

#: Syntax that assertions may use; without attributes and imports it can only reach the given values.
_ALLOWED_SYNTAX = (
    *(ast.Module, ast.Assert, ast.Assign, ast.AugAssign, ast.Expr, ast.If, ast.Pass),
    *(ast.Name, ast.Load, ast.Store, ast.Constant, ast.Tuple, ast.List, ast.IfExp, ast.JoinedStr),
    *(ast.FormattedValue, ast.Call, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub),
    *(ast.UAdd, ast.Invert, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.RShift, ast.Compare, ast.Eq, ast.NotEq, ast.Lt),
    *(ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn, ast.Is, ast.IsNot),
)
_FUNCTIONS: dict[str, Any] = {
    "abs": abs,
    "float": float,
    "int": int,
    "max": max,
    "min": min,
    "print": lambda *_: None,
    "round": round,
    "str": str,
}


@dataclass(frozen=True)
class FailedAssertion:
    """The first assertion of a script that does not hold or cannot be evaluated."""

    line: int
    #: The statement.
    expected: str
    #: Values of the fields that it names, or the error.
    seen: str
    reason: str
    #: Whether celltcp could evaluate the assertion.
    is_applicable: bool = True


def first_failure(assertions: list[tuple[int, str, dict[str, int]]]) -> FailedAssertion | None:
    """Evaluates assertions in order, and returns the first failure.

    Variables that the code assigns are known to later assertions.

    Args:
        assertions: line in the script, code, and the fields of TCP_INFO with their values.
    """
    names: dict[str, Any] = {}
    for line, code, values in assertions:
        names.update(values)
        if failure := _evaluate(line, code.strip(" \t") + "\n", names):
            return failure
    return None


def _evaluate(line: int, code: str, names: dict[str, Any]) -> FailedAssertion | None:
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError):
        return FailedAssertion(
            line, _shorten(code), "", "Python that does not parse", is_applicable=False
        )
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED_SYNTAX):
            reason = f"Python with {type(node).__name__}"
            return FailedAssertion(line, _shorten(code), "", reason, is_applicable=False)
    for statement in tree.body:
        statement_line = line + statement.lineno - 1
        text = _shorten(ast.unparse(statement))
        single = ast.Module([statement], type_ignores=[])
        try:
            exec(compile(single, "script", "exec"), {"__builtins__": _FUNCTIONS}, names)
        except AssertionError as failure:
            seen = _values(statement, names) or str(failure)
            return FailedAssertion(statement_line, text, seen, "assertion")
        except NameError as missing:
            reason = f"TCP_INFO field {missing.name}"
            return FailedAssertion(statement_line, text, "", reason, is_applicable=False)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            return FailedAssertion(statement_line, text, str(error), "assertion")
    return None


def _values(statement: ast.stmt, names: dict[str, Any]) -> str:
    """Returns the fields that a statement names, with their values."""
    used = [node.id for node in ast.walk(statement) if isinstance(node, ast.Name)]
    fields = [name for name in dict.fromkeys(used) if name in names and not name.isupper()]
    field_names = [name for name in fields if not name.startswith(("TCP_CA_", "TCPI_OPT_"))]
    return ", ".join(f"{name} = {names[name]}" for name in field_names)


def _shorten(code: str) -> str:
    return " ".join(code.split())[:120]
