"""What every other package may use: errors, fingerprints of values and code, whole files, tokens, and the typed records
that pass between stages (a request, a response, a trial). Nothing here knows what a study is.

May import: nothing of this project.
"""
