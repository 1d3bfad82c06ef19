"""The gate: what leaves keeps its contract, by a policy.

`enforce` raises. `report` logs, counts, calls back, and delivers. `off` delivers. Whatever the
policy, what isn't strict JSON and what is a placeholder never leaves, and a tool's return is
always enforced.
"""

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any, Literal, NoReturn, get_args

from .registry import Contract
from .strict_json import encode, is_strict
from .violations import ContractViolation, OrderViolation

__all__ = ["Gate", "Policy", "Violation"]

Policy = Literal["enforce", "report", "off"]
Violation = ContractViolation | OrderViolation

_log = logging.getLogger(__name__)
_ALWAYS_ENFORCED = ("tool_return", "mcp_return")


class Gate:
    """Checks values against contracts under one policy."""

    def __init__(
        self,
        policy: Policy = "enforce",
        on_violation: Callable[[Violation], None] | None = None,
    ) -> None:
        if policy not in get_args(Policy):
            raise ValueError(f"policy is one of {', '.join(get_args(Policy))}, not {policy!r:.40}.")
        self.policy: Policy = policy
        self.validates = policy != "off"
        #: How often which rule was broken: by surface, kind, name (empty when unknown) and rule.
        self.counts: Counter[tuple[str, str, str, str]] = Counter()
        self._on_violation = on_violation

    def check(self, contract: Contract, value: Any) -> None:
        """Raises ContractViolation, or reports it, as the policy says."""
        self.admit(contract, value)

    def encode(self, contract: Contract, value: Any) -> bytes:
        """The value, checked, as strict UTF-8 JSON."""
        return self.admit(contract, value)[0]

    def admit(self, contract: Contract, value: Any) -> tuple[bytes, Any]:
        """The value, checked, as JSON; and the value as it is sent: lone surrogates replaced."""
        if contract.status == "placeholder":
            self.refuse(contract.placeholder(value))
        if not is_strict(value):
            self.refuse(contract.not_json(value))
        body, value = encode(value)
        always = contract.kind in _ALWAYS_ENFORCED
        if (self.validates or always) and not contract.accepts(value):
            violation = contract.explained(value)
            if always:
                self.refuse(violation)
            self.judge(violation)
        return body, value

    def refuse(self, violation: Violation) -> NoReturn:
        """Counts and raises, whatever the policy."""
        self._count(violation)
        raise violation

    def judge(self, violation: Violation) -> None:
        """Does with a violation what the policy says."""
        if self.policy == "enforce":
            self.refuse(violation)
        self._count(violation)
        _log.warning("contract violation, not enforced: %s", violation)

    def _count(self, violation: Violation) -> None:
        if isinstance(violation, OrderViolation):
            key = (violation.surface, "order", violation.event or "", violation.rule)
        else:
            # A name that nothing declares must not grow the counter.
            name = "" if violation.rule == "UNKNOWN_EVENT" else violation.name
            key = (violation.surface, violation.kind, name, violation.rule)
        self.counts[key] += 1
        if self._on_violation is not None:
            try:
                self._on_violation(violation)
            except Exception:
                _log.exception("the gate's on_violation callback failed")
