"""What can keep schemas from becoming code."""


class CodegenError(Exception):
    """The code can't be generated; the message says what to change."""
