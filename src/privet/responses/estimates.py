"""The verb `estimate`: shares of the truth, from disguised rows alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

from privet.engine.protocol import Listener, Run
from privet.errors import InputError
from privet.responses.channel_inverse import Tensor, covariance
from privet.responses.design import Design, MarginalChannel, design_of
from privet.responses.estimate import Estimate, SolvedCounts, answers_in, estimated
from privet.responses.expressions import Expression, equalities, event, parsed
from privet.responses.intervals import level
from privet.responses.release import Responses
from privet.table import Table, read
from privet.values.exact import Number


@dataclass(frozen=True, eq=False)
class Estimates:
    """What can be estimated from some disguised rows."""

    responses: Responses
    """The disguised rows."""
    confidence: float = 0.95
    """Of the intervals."""
    run: Run = field(default_factory=Run)
    """Who listens to progress."""

    @property
    def design(self) -> Design:
        """How the rows were disguised."""
        return self.responses.design

    def share(
        self,
        expression: str | None = None,
        *,
        given: str | None = None,
        **equal: object,
    ) -> Estimate:
        """The share of people for whom something is true.

        Parameters
        ----------
        expression
            With and, or, not, in and brackets: ``"smokes = yes and not age = old"``.
        given
            Another expression: the share among those for whom it is true.
        equal
            Or a value per column; all of them must be so.
        """
        asked = self._expression(expression, equal)
        if given is None:
            return self._estimated(asked)
        return self._conditional(asked, parsed(self.design, given))

    def _expression(self, text: str | None, equal: dict[str, object]) -> Expression:
        if (text is None) == (not equal):
            raise InputError(
                "A share must be asked of an expression or of values of columns, and "
                "of one of them."
            )
        if text is not None:
            return parsed(self.design, text)
        return equalities(self.design, equal)

    def _estimated(self, asked: Expression) -> Estimate:
        pieces = self.design.pieces(asked.columns)
        (counts,) = self.responses.counts([pieces], self.run)
        where = event(self.design, _columns(pieces), asked).reshape(counts.shape)
        return estimated(pieces, counts, where, confidence=self.confidence)

    def _conditional(self, asked: Expression, given: Expression) -> Estimate:
        columns = tuple(dict.fromkeys((*asked.columns, *given.columns)))
        pieces = self.design.pieces(columns)
        (counts,) = self.responses.counts([pieces], self.run)
        inside, where = (
            event(self.design, _columns(pieces), e).reshape(counts.shape)
            for e in (given, asked)
        )
        if set(given.columns) <= set(self.design.public):  # it is known who they are
            known = SolvedCounts(pieces, counts * inside, inside)
            return known.estimate(where & inside, confidence=self.confidence)
        known = SolvedCounts(pieces, counts)
        return known.ratio(where & inside, inside, confidence=self.confidence)

    def shares(self, *columns: str) -> dict[tuple[str, ...], Estimate]:
        """The share of every combination of values of some columns."""
        if not columns:
            raise InputError("Shares must be asked of at least one column.")
        pieces = self.design.pieces(columns)
        (counts,) = self.responses.counts([pieces], self.run)
        return self._shares(columns, SolvedCounts(pieces, counts))

    def every_share(self) -> dict[str, dict[str, Estimate]]:
        """The share of every answer to every disguised question, counted at once."""
        secret = [c for c in self.design.columns if c not in self.design.public]
        pieces = [self.design.pieces([c]) for c in secret]
        counts = self.responses.counts(pieces, self.run)
        found = {}
        for column, some, counted in zip(secret, pieces, counts, strict=True):
            shares = self._shares((column,), SolvedCounts(some, counted))
            found[column] = {value: e for (value,), e in shares.items()}
        return found

    def _shares(
        self, columns: tuple[str, ...], known: SolvedCounts
    ) -> dict[tuple[str, ...], Estimate]:
        found = {}
        values = [self.design.question(c).values for c in columns]
        for some in product(*values):
            asked = equalities(self.design, dict(zip(columns, some, strict=True)))
            where = event(self.design, _columns(known.pieces), asked)
            shaped = where.reshape(known.counts.shape)
            found[some] = known.estimate(shaped, confidence=self.confidence)
        return found

    def covariance(self, *columns: str, disguise_only: bool = False) -> Tensor:
        """The covariance matrix of the unbiased shares of all combinations."""
        if not columns:
            raise InputError("A covariance must be asked of at least one column.")
        pieces = self.design.pieces(columns)
        (counts,) = self.responses.counts([pieces], self.run)
        n = answers_in(counts)
        return covariance(pieces, counts / n, n, disguise_only=disguise_only)


def estimate(
    seen: Any,
    design: Any,
    *,
    confidence: Number = 0.95,
    progress: Listener | None = None,
) -> Estimates:
    """Estimate shares of the truth from disguised rows.

    Parameters
    ----------
    seen
        The disguised rows: `Responses`, or anything `read` takes.
    design
        How they were disguised: a `Design`, or the `RandomizedResponse` that did it.
    confidence
        How often the intervals shall hold the truth.
    progress
        Takes `Progress` events.
    """
    wanted, found = level(confidence), design_of(design)
    if isinstance(seen, Responses):
        responses = Responses(seen.rows, found)
    else:
        table = seen if isinstance(seen, Table) else read(seen)
        responses = Responses(table, found)
    return Estimates(responses, wanted, Run(progress))


def _columns(pieces: tuple[MarginalChannel, ...]) -> list[str]:
    return [c for p in pieces for c in p.columns]
