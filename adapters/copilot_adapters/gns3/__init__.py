"""A GNS3 server as a lab: REST API v3 (3.0.6 and 3.1) and telnet consoles."""

from copilot_adapters.extras import installed_by

with installed_by("server", __name__):
    from copilot_adapters.gns3.lab import Gns3Lab

__all__ = ["Gns3Lab"]
