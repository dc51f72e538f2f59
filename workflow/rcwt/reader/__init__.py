"""The embedded extractive reader: the model that answers from the prompt alone, without a network or a key.

May import: `base`. It knows no design, no task and no scoring, so that it cannot be better than what it reads.
"""
