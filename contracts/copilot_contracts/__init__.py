"""Contracts of a server's surfaces: registry, gate, stream order, SSE wire.

Names are imported on first use, so that `import copilot_contracts` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .catalogue import Catalogue as Catalogue
    from .gate import Gate as Gate
    from .gate import Policy as Policy
    from .order import OrderRules as OrderRules
    from .recording import StreamFinding as StreamFinding
    from .recording import verify_stream as verify_stream
    from .registry import Contract as Contract
    from .registry import Registry as Registry
    from .registry import Surface as Surface
    from .stream import EventStream as EventStream
    from .stream import StreamContract as StreamContract
    from .violations import ContractViolation as ContractViolation
    from .violations import NotJson as NotJson
    from .violations import OrderViolation as OrderViolation
    from .violations import SurfaceError as SurfaceError
    from .violations import UnknownContract as UnknownContract
    from .violations import UnknownSurface as UnknownSurface

_MODULES = {
    "Catalogue": "catalogue",
    "Contract": "registry",
    "ContractViolation": "violations",
    "EventStream": "stream",
    "Gate": "gate",
    "NotJson": "violations",
    "OrderRules": "order",
    "OrderViolation": "violations",
    "Policy": "gate",
    "Registry": "registry",
    "StreamContract": "stream",
    "StreamFinding": "recording",
    "Surface": "registry",
    "SurfaceError": "violations",
    "UnknownContract": "violations",
    "UnknownSurface": "violations",
    "verify_stream": "recording",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
