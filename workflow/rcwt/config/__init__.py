"""The configuration, from YAML to a checked `schema.Config`: designs, registry, prices, parameters, and where results
may go. `identity` says what makes one model's calls differ from another's.

May import: `base`. Not: anything that reads a task's texts.
"""
