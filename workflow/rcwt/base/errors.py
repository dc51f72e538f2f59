"""The project's own errors. Each message says where, what was found, what is accepted and what to do."""

from rcwt.base.visible import visible


class RcwtError(Exception):
    """Base of every error a user is meant to read; scripts print it without a traceback.

    A message may quote a server or a file, so each is made visible: no character of it acts on a terminal.
    """

    def __init__(self, *args: object) -> None:
        super().__init__(*(visible(arg) if isinstance(arg, str) else arg for arg in args))


class ConfigError(RcwtError):
    """A configuration key that is missing, unknown, doubled or of a wrong value."""


class TaskError(RcwtError):
    """A task folder whose templates or items cannot be used."""


class DesignError(RcwtError):
    """A condition that cannot be built, for instance an instruction longer than the window."""


class PublishedDataError(RcwtError):
    """A per-call CSV of the paper's artifact that contradicts its own kind."""


class StaleResultError(RcwtError):
    """A result file that was made from another prompt, response or trial count than the one planned."""


class FileError(RcwtError):
    """A file that the system would not let be read or written, as on a full disk."""

    def __init__(self, error: OSError) -> None:
        where = f"{error.filename}: " if error.filename else ""
        super().__init__(
            f"{where}{error.strerror or error}. Make room or allow access there, or give another folder with --config "
            "results_dir=PATH, and run the same command again: what is finished is kept"
        )


class CallError(RcwtError):
    """A model call that cannot succeed; retrying it would not help."""


class InterruptedCallError(CallError):
    """The run was interrupted before this call was answered."""
