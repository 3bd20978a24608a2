"""The base of every error that the library raises on purpose."""

from __future__ import annotations


class Error(Exception):
    """What went wrong (`what`), where (`where`: the call or the part of a text, "" where that is the whole of it), and
    what to do about it (`remedy`, "" where the sentence says so itself). As text it is all three.

    >>> import raygrove as rg
    >>> try:
    ...     raise rg.Error("The ray is endless", "rg.build", "give it a direction")
    ... except rg.Error as error:
    ...     print(error)
    rg.build: The ray is endless: give it a direction.
    """

    what: str = ""
    where: str = ""
    remedy: str = ""

    def __init__(self, what: str = "", where: str = "", remedy: str = "") -> None:
        said = f"{what.rstrip('.')}: {remedy.rstrip('.')}." if remedy else what
        super().__init__(f"{where}: {said}" if where else said)
        self.what, self.where, self.remedy = what, where, remedy

    def __str__(self) -> str:
        said, where = super().__str__(), self.where
        return said if not where or said.startswith(f"{where}: ") else f"{where}: {said}"


class UnreadableError(Error):
    """A file or a folder that is not there, or does not hold what was to be read: commands end with exit code 3."""
