"""Numbers as they are said in messages."""


def counted(n: int, one: str, several: str = "") -> str:
    """How many there are of something.

    >>> counted(1, "person"), counted(2000, "person"), counted(0, "person is", "people are")
    ('1 person', '2,000 persons', '0 people are')
    """
    return f"{n:,} {one if n == 1 else several or one + 's'}"


def ordinal(n: int) -> str:
    """The place of something in a row.

    >>> ordinal(1), ordinal(2), ordinal(13), ordinal(23)
    ('1st', '2nd', '13th', '23rd')
    """
    is_teen = n % 100 in (11, 12, 13)
    return f"{n}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(n % 10, 'th')}"
