"""Random choices of one run, from a seed, with a tally of the options that they gave."""

import random


class Draw:
    """A generator of its own for each run, so that any run can be repeated without those before it."""

    def __init__(self, target, seed, number):
        self.rng = random.Random(f"{target} {seed} {number}")
        self.options = []

    def chance(self, probability):
        return self.rng.random() < probability

    def of(self, values):
        return self.rng.choice(values)

    def upto(self, most, least=0):
        return self.rng.randint(least, most)

    def note(self, option):
        """Counts something that is no option of its own, as a kind of input."""
        self.options.append(option)
        return option

    def flag(self, probability, option):
        """[option], or nothing."""
        if not self.chance(probability):
            return []
        self.options.append(option)
        return [option]

    def value(self, probability, option, values):
        """[option, one of values], or nothing; values may be a function without arguments."""
        if not self.chance(probability):
            return []
        self.options.append(option)
        return [option, str(values() if callable(values) else self.of(values))]

    def shuffled(self, *groups, longs=None, glued=False):
        """The words of all groups in any order; options now and then by long names, or with the value glued to them."""
        groups = [self.spelled(group, longs or {}, glued) for group in groups if group]
        self.rng.shuffle(groups)
        return [word for group in groups for word in group]

    def spelled(self, group, longs, glued):
        option, values, kind = group[0], group[1:], self.upto(9)
        if len(values) > 1:
            return group
        if kind == 0 and option in longs:
            return [self.note("(long name)") and longs[option], *values]
        if kind == 1 and values and longs.get(option, option).startswith("--"):
            return [self.note("(--name=value)") and f"{longs.get(option, option)}={values[0]}"]
        if kind == 2 and values and glued and len(option) == 2:
            return [self.note("(-xVALUE)") and option + values[0]]
        return group
