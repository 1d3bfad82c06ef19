"""What the model is told around a conversation. Byte-stable, so that endpoints can cache it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.messages import SystemMessage

from copilot_core.messages import convert_openai_to_langchain

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage

    from copilot_core.llm.config import LlmConfig

SYSTEM_PROMPT = """\
You are GNS3 Copilot, the assistant of a network lab. You act on the lab only by calling tools.

- Which nodes and links there are: call gns3_topology_reader.
- The topology has no IP addresses. A host's address: call execute_vpcs_commands on that host \
with the command "show ip".
- Nodes can be given by name. To create a node, first call get_gns3_templates for the template_id.
- When the tool results hold the answer, answer the user in one or two sentences of plain text, \
with the names and numbers from the results."""

#: The end of the last request of a turn, which offers no tools.
ANSWER_NOW = "Answer now in plain text, from the tool results above."


def opening(llm: LlmConfig) -> list[BaseMessage]:
    """What comes before the session's own messages."""
    return [SystemMessage(SYSTEM_PROMPT), *convert_openai_to_langchain(llm.examples)]
