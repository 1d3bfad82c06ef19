"""What can keep schemas from becoming code."""


class CodegenError(Exception):
    """The code can't be generated; the message says what to change."""


class MissingGenerator(CodegenError):
    """What generates the code isn't installed; the message names the extra that installs it."""
