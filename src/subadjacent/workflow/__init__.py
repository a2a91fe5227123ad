"""From files to findings on disk: what the command and a service both do, as plain functions.

Nothing here prints or parses; progress goes to a ``Watch``, results are returned or written.
"""
