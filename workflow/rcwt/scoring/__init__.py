"""What a reply's items score: the rules, a person's audit, a language model, the form of the reply, a pack's answers.
Pure functions of a reply and its items; nothing here asks a model.

May import: `base` and `packs`.
"""
