"""Makes the documentation's site from docs/, README.md and the docstrings: ``make docs``.

``gather`` writes what Sphinx reads, ``conf`` steers Sphinx, ``check`` follows every link of the
pages that come out. No page is written twice: what is on the site is in the repository, too.
"""
