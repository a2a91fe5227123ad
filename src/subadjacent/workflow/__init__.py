"""From files to findings on disk: plain functions that the command and the service share.

Nothing here prints or parses; progress goes to a ``Watch``, results are returned or written.
"""
