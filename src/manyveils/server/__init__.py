"""The trusted server: keeps the keys of releases, reads results with them for whom it may, and logs every answer.

`keeper` is what everything works on; `accounts`, `grants`, `catalogue`, `interpretation`, `jobs` and `chain` say what
the server does; `api` and the pages only translate.
"""
