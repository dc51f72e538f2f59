"""What a reply is judged by, as `task.yaml` describes it: facts, exact fields, or named yes/no answers."""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, StrictBool

from rcwt.scoring.patterns import compile_pattern

#: One way to accept an item: a pattern; patterns of one passage; or several of those (`rcwt.scoring.rules`).
Alternative = str | tuple[str, ...] | tuple[tuple[str, ...], ...]

_ALTERNATIVE = "a pattern, a list of patterns, or a list of lists of patterns"


def _said(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


def _pattern(text: str) -> str:
    compile_pattern(text)
    return text


def _alternative(value: Any) -> Alternative:
    if isinstance(value, str):
        return _pattern(value)
    if isinstance(value, list | tuple) and value:
        if all(isinstance(part, str) for part in value):
            return tuple(_pattern(part) for part in value)
        if all(isinstance(part, list | tuple) and part for part in value):
            inner = [_alternative(part) for part in value]
            if all(isinstance(part, tuple) and isinstance(part[0], str) for part in inner):
                return tuple(inner)  # type: ignore[return-value]  # just checked: tuples of strings
    raise ValueError(f"it is not {_ALTERNATIVE}; quote a pattern that YAML takes for a number")


Text = Annotated[str, AfterValidator(_said)]
PatternText = Annotated[str, AfterValidator(_pattern)]
_ID = r"^[A-Za-z][A-Za-z0-9_]*$"
_NAME = "a name of letters, digits and '_'"


class TaskRecord(BaseModel):
    """A frozen record of a task file that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Evidence(TaskRecord):
    """Strings of the reference that must all stand whole in a block for a fact to be visible there."""

    strict: tuple[Text, ...] = Field(min_length=1, description="texts copied from reference.md: the whole statement")
    lenient: tuple[Text, ...] = Field(min_length=1, description="texts copied from reference.md: just the value")


class Item(TaskRecord):
    """One fact that a reply in free text is judged by."""

    id: str = Field(pattern=_ID, description=_NAME)
    effective: StrictBool = Field(default=True, description="true or false: whether the effective score counts it")
    statement: Text = Field(description="one sentence that a language-model judge checks")
    evidence: Evidence = Field(description="the lists 'strict' and 'lenient'")
    accept: tuple[Annotated[Alternative, PlainValidator(_alternative)], ...] = Field(
        min_length=1, description=f"a list of alternatives, each {_ALTERNATIVE}"
    )
    reject: tuple[PatternText, ...] = Field(default=(), description="a list of patterns")


class ExactField(TaskRecord):
    """One field of the JSON object that an exact question asks for (`rcwt.scoring.fields`)."""

    id: str = Field(pattern=_ID, description=_NAME)
    evidence: Evidence = Field(description="the lists 'strict' and 'lenient'")
    accept: tuple[PatternText, ...] = Field(min_length=1, description="a list of patterns, each the field's value")
    reject: tuple[PatternText, ...] = Field(default=(), description="a list of patterns")
    aside: tuple[PatternText, ...] = Field(default=(), description="a list of patterns")
    others: tuple[PatternText, ...] = Field(default=(), description="a list of patterns")
    units: tuple[Text, ...] = Field(default=(), description="a list of units")


class NamedAnswer(TaskRecord):
    """One named question of an algorithmic task, and its right answer (`rcwt.scoring.answers`)."""

    id: str = Field(pattern=_ID, description=_NAME)
    answer: Literal["YES", "NO"] = Field(description="'YES' or 'NO', in quotes: YAML reads a bare one as true or false")
