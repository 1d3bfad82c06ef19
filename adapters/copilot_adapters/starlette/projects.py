"""The project gate of `serve`: projects as the lab knows them, their files under one folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from copilot_adapters.starlette.problems import ProblemError
from copilot_core.ports import LabError, Project

if TYPE_CHECKING:
    from pathlib import Path

    from copilot_core.ports import Identity, Lab


class LabProjects:
    """A project is what the lab answers for its id; its folder is `{data}/{project_id}`.

    The lab's own path isn't used: it is a path on the lab's machine. Ids reach this gate as
    `[A-Za-z0-9_-]{1,64}` only, so no id leads out of `data`.
    """

    def __init__(self, lab: Lab, data: Path) -> None:
        self._lab = lab
        self._data = data

    async def project(self, project_id: str, identity: Identity) -> Project | None:
        """The project, if the lab knows it. Raises ProblemError, 503, if the lab can't be asked."""
        try:
            found = await self._lab.project(project_id)
        except LabError as error:
            raise ProblemError(
                "internal", f"The lab can't be asked: {error.message}", status=503
            ) from error
        # A server that takes ids in another spelling would give one project two folders.
        if found is None or found.project_id != project_id:
            return None
        return Project(project_id=project_id, status=found.status, path=self._data / project_id)
