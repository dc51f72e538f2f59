"""What the embedded reader is called where its results are shown."""

NAME = "reader"
LABEL = "extractive reader, not a language model"
