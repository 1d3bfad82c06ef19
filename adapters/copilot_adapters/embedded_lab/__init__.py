"""A small network lab in one process, behind GNS3's REST API v3 and telnet consoles.

It speaks the part of the API that ``copilot_adapters.gns3`` uses, on loopback, with state in
memory, so that a first conversation needs no GNS3 server and no emulator.
"""

from copilot_adapters.extras import installed_by

with installed_by("server", __name__):
    from copilot_adapters.embedded_lab.server import EMBEDDED_PROJECT_ID, EmbeddedLab

__all__ = ["EMBEDDED_PROJECT_ID", "EmbeddedLab"]
