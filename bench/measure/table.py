"""Rounds of one metric and what they come to: medians, ratios within a round, goals."""

import statistics

WARM_UP = 1  # rounds that are not counted


class Goal:
    """`value` is None when it could not be measured, and `why` says why."""

    def __init__(self, text, value, limit, why=""):
        self.text, self.value, self.limit, self.why = text, value, limit, why

    @property
    def verdict(self):
        if self.value is None:
            return "not judged"
        return "met" if self.value <= self.limit else "MISSED"

    def line(self):
        if self.value is None:
            return f"  {self.verdict:10} {self.text}: {self.why}"
        return f"  {self.verdict:10} {self.text}: {self.value:.4g}, at most {self.limit:.4g}"

    def as_dict(self):
        return {"goal": self.text, "value": self.value, "limit": self.limit,
                "verdict": self.verdict}  # fmt: skip


class Table:
    """`columns`: (key of a round, heading, format). The first is what ratios are of."""

    def __init__(self, name, title, columns, base="ref"):
        self.name, self.title, self.columns, self.base = name, title, columns, base
        self.rows = {}  # of a contestant, one dict a round
        self.notes = []
        self.goals = []

    @property
    def key(self):
        return self.columns[0][0]

    def add(self, who, figures):
        self.rows.setdefault(who, []).append(figures)

    def values(self, who, key):
        return [r[key] for r in self.rows.get(who, []) if r.get(key) is not None]

    def median(self, who, key=None):
        found = self.values(who, key or self.key)
        return statistics.median(found) if found else None

    def ratio(self, who, other, key=None):
        """The median over the rounds of the ratio within a round: what the machine does
        beside us meets both sides of it."""
        key = key or self.key
        pairs = zip(self.rows.get(who, []), self.rows.get(other, []))
        found = [a[key] / b[key] for a, b in pairs if a.get(key) and b.get(key)]
        return statistics.median(found) if found else None

    def judge(self, text, value, limit, why="not measured here"):
        self.goals.append(Goal(text, value, limit, why))

    def judge_ratio(self, other, limit, who="weir", key=None, what="CPU"):
        self.judge(f"{what} of {who} / {other}", self.ratio(who, other, key), limit,
                   f"{other} is not measured here")  # fmt: skip

    def print(self):
        headings = [heading for _, heading, _ in self.columns]
        width = max([12, *(len(who) + 1 for who in self.rows)])
        ratio = f"x {self.base}"
        print(f"\n{self.name}: {self.title}")
        print(" " * width + "".join(f"{h:>13}" for h in [*headings, ratio]) + "  errors")
        for who in sorted(self.rows, key=lambda who: self.median(who) or 0):
            cells = [self.cell(who, key, form) for key, _, form in self.columns]
            value = self.ratio(who, self.base) if who != self.base else 1.0
            cells.append("-" if value is None else f"{value:.2f}")
            errors = sum(r.get("errors", 0) for r in self.rows[who])
            print(f"{who:{width}}" + "".join(f"{c:>13}" for c in cells) + f"{errors:8}")
        for line in [*self.notes, *(goal.line() for goal in self.goals)]:
            print(line)

    def cell(self, who, key, form):
        value = self.median(who, key)
        return "-" if value is None else format(value, form)

    def as_dict(self):
        return {
            "title": self.title,
            "medians": {
                who: {key: self.median(who, key) for key, _, _ in self.columns}
                for who in self.rows
            },
            "ratios": {who: self.ratio(who, self.base) for who in self.rows},
            "rounds": self.rows,
            "goals": [goal.as_dict() for goal in self.goals],
            "notes": self.notes,
        }


def interleave(table, contestants, rounds):
    """`contestants`: name and function of one round, which returns its figures. Every
    other round goes the other way, so that nobody always follows the same neighbour."""
    for number in range(WARM_UP + rounds):
        for who, measure in contestants if number % 2 else contestants[::-1]:
            figures = measure()
            if number >= WARM_UP:
                table.add(who, figures)
    return table
