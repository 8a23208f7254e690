# SPDX-License-Identifier: Apache-2.0
"""From samples to the table: medians with their extremes, and ratios of the samples of one round."""

from dataclasses import dataclass

from engines import median_of

BUSY = 0.15  # cores; a sample beside a busier neighbour says little


@dataclass(frozen=True)
class Spread:
    median: float
    least: float
    most: float
    count: int


def spread_of(values):
    values = list(values)
    return Spread(median_of(values), min(values), max(values), len(values)) if values else None


def quiet(samples, limit=BUSY):
    return [sample for sample in samples if sample.others <= limit]


def number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def cell(spread):
    if not spread:
        return "-"
    return (f"{number(spread.median)} [{number(spread.least)}..{number(spread.most)}] "
            f"n{spread.count}")


def shown(sample):
    """A start is told in milliseconds."""
    return 1000 / sample.rate if sample.test.kind == "start" else sample.rate


def ratios(ours, theirs):
    """Ours over theirs, where both have a sample of the same round and number of it."""
    by_round = {}
    for sample in theirs:
        by_round.setdefault(sample.round, []).append(sample.rate)
    found = []
    for sample in ours:
        partners = by_round.get(sample.round)
        if partners:
            found.append(sample.rate / partners.pop(0))
    return found


def shares(samples, kept_of_llmc):
    """Of each sample: its share of the machine's limit. All engines of a row read the same weights, so
    a peer's is llmc's of the same round times the ratio of their rates."""
    by_round = {s.round: s for s in kept_of_llmc if s.share}
    return [sample.share or by_round[sample.round].share * sample.rate / by_round[sample.round].rate
            for sample in samples if sample.share or sample.round in by_round]


def percent(values):
    return f" {100 * median_of(values):.0f}%" if values else ""


def rows_of(samples):
    """(model, level, threads, test) -> engine -> samples, in the order of the samples."""
    rows = {}
    for sample in samples:
        key = (sample.model, sample.level, sample.threads, sample.test)
        rows.setdefault(key, {}).setdefault(sample.engine, []).append(sample)
    return rows


def engine_order(samples):
    seen = dict.fromkeys(sample.engine for sample in samples)
    peers = sorted(name for name in seen if name != "llmc")
    return peers + (["llmc"] if "llmc" in seen else [])


def table_rows(samples, limit=BUSY):
    """The header and the rows of the table; a row without a quiet sample shows what there is, marked."""
    names = engine_order(samples)
    peers = [name for name in names if name != "llmc"]
    with_ratios = peers if "llmc" in names else []
    yield ["model", "level", "threads", "test", *(f"{name} tok/s" for name in names),
           *(f"llmc / {name}" for name in with_ratios)]
    for (model, level, threads, test), by_engine in rows_of(samples).items():
        kept = {}
        for name in names:
            every = by_engine.get(name, [])
            kept[name] = quiet(every, limit) or every
        cells = [cell(spread_of(shown(sample) for sample in kept[name]))
                 + percent(shares(kept[name], kept.get("llmc", []))) for name in names]
        noisy = [name for name in names
                 if by_engine.get(name) and not quiet(by_engine[name], limit)]
        cells = [text + " busy" if name in noisy else text for name, text in zip(names, cells)]
        cells += [cell(spread_of(ratios(kept["llmc"], kept[peer]))) for peer in with_ratios]
        yield [model, level, str(threads), str(test), *cells]


def markdown(rows):
    """A table that reads as text too."""
    rows = list(rows)
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rule = ["-" * width for width in widths]
    lines = [rows[0], rule, *rows[1:]]
    return "\n".join(
        "| " + " | ".join(text.ljust(width) for text, width in zip(line, widths)) + " |"
        for line in lines
    )
