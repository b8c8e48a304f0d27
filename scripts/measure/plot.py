"""A bar a program and case, as SVG with one axis: the median as the bar, every run as a dot, ratios as text."""

import math
import textwrap
from xml.sax.saxutils import escape

# Told apart by people who see few colours, and in grey.
COLOURS = ("#1b6ca8", "#d1872b", "#6b6b6b")
WIDTH, BAR, GAP, MARGIN = 900, 16, 12, 16
LETTER = 6.8  # pixels, more than the mean letter takes
MOST_NAME = 44  # letters of a case in one line
LINEAR = 100  # up to this ratio of the largest value to the smallest the axis begins at 0
PREFIXES = ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"), (1e-12, "ps"))


def number(value):
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def unit_of(value, unit):
    """The factor and name of the unit in which people say a value; only seconds have others than their own."""
    if unit != "s" or value <= 0:
        return 1, unit
    return next((one for one in PREFIXES if value >= one[0]), PREFIXES[-1])


def quantity(value, unit):
    factor, name = unit_of(value, unit)
    return f"{number(value / factor)} {name}"


class Axis:
    """From values to pixels: from 0, or where values differ too much by powers of ten."""

    def __init__(self, values, unit, left, right):
        low, high = min(values), max(values) or 1
        self.unit, self.left, self.right = unit, left, right
        self.is_log = low > 0 and high > LINEAR * low
        if self.is_log:
            self.low, self.high = math.floor(math.log10(low)), math.ceil(math.log10(high))
            self.ticks = [10.0 ** power for power in range(self.low, self.high + 1)]
        else:
            step = self._step(high)
            self.ticks = [step * i for i in range(math.ceil(high / step) + 1)]
            self.low, self.high = 0, self.ticks[-1]

    @staticmethod
    def _step(high):
        power = 10.0 ** math.floor(math.log10(high / 5))
        return next(step * power for step in (1, 2, 5, 10) if high / (step * power) <= 6)

    def at(self, value):
        value = math.log10(value) if self.is_log else value
        return self.left + (self.right - self.left) * (value - self.low) / (self.high - self.low)

    def labels(self):
        factor, name = unit_of(self.high, self.unit) if not self.is_log else (1, self.unit)
        for tick in self.ticks:
            text = quantity(tick, self.unit) if self.is_log else f"{number(tick / factor)} {name}"
            yield self.at(tick), text

    def draw(self, top, bottom):
        for x, text in self.labels():
            yield f'<path d="M{x:.1f} {top}V{bottom}" class="grid"/>'
            yield f'<text x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{escape(text)}</text>'


def value_text(programs, i, unit, more):
    """The value with a ratio: less is better, the later ones to the first; else the first to the second."""
    text = quantity(programs[i][1], unit)
    if more and i == 0 and len(programs) == 2:
        return f"{text}, {programs[0][1] / programs[1][1]:.1f} times"
    return text if more or i == 0 else f"{text}, {programs[i][1] / programs[0][1]:.1f} times"


def draw_case(name, programs, axis, unit, more, y):
    lines = textwrap.wrap(name, MOST_NAME) or [""]
    middle = y + BAR * len(programs) / 2 + 4 - 7 * (len(lines) - 1)
    for i, line in enumerate(lines):
        yield f'<text x="{axis.left - 10}" y="{middle + 14 * i:.0f}" text-anchor="end">{escape(line)}</text>'
    for i, (program, median, runs) in enumerate(programs):
        top, end = y + i * BAR, axis.at(median)
        colour = COLOURS[i % len(COLOURS)]
        title = f"<title>{escape(program)}: {quantity(median, unit)}</title>"
        if axis.is_log:  # without a zero a length means nothing: the place counts
            yield f'<path d="M{axis.left} {top + BAR / 2}H{end:.1f}" stroke="{colour}" stroke-dasharray="1 3"/>'
            yield f'<circle cx="{end:.1f}" cy="{top + BAR / 2}" r="5" fill="{colour}">{title}</circle>'
        else:
            yield (f'<rect x="{axis.left}" y="{top + 1}" width="{max(1.0, end - axis.left):.1f}" height="{BAR - 3}" '
                   f'fill="{colour}">{title}</rect>')
        if len(runs) > 1:
            yield from (f'<circle cx="{axis.at(run):.1f}" cy="{top + BAR / 2}" r="2.2" class="run"/>' for run in runs)
        yield (f'<text x="{max([end, *map(axis.at, runs)]) + 9:.1f}" y="{top + BAR - 4}">'
               f'{escape(value_text(programs, i, unit, more))}</text>')


def legend(programs, y):
    x = MARGIN
    for i, (program, _, _) in enumerate(programs):
        yield (f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{COLOURS[i % len(COLOURS)]}"/>'
               f'<text x="{x + 18}" y="{y}">{escape(program)}</text>')
        x += 42 + LETTER * len(program)


def bars(title, caption, cases, unit="s", more=False):
    """cases: a list of (name, [(program, median, [runs]), ...]); the first program is ours. Returns the SVG's text.

    unit: of the values; those in seconds are shown as ms, µs, ns or ps. more: the more the better.
    """
    values = [value for _, programs in cases for _, median, runs in programs for value in (median, *runs)]
    names = max(min(len(name), MOST_NAME) for name, _ in cases)
    texts = max(len(value_text(programs, i, unit, more)) for _, programs in cases for i in range(len(programs)))
    axis = Axis(values, unit, round(MARGIN + LETTER * names + 10), round(WIDTH - MARGIN - LETTER * texts - 9))
    top = 70
    parts, y = [], top + 8
    for name, programs in cases:
        parts.extend(draw_case(name, programs, axis, unit, more, y))
        y += BAR * len(programs) + GAP
    bottom = y - GAP + 8
    how_to_read = "The more the better" if more else "The less the better"
    if axis.is_log:
        how_to_read += "; each line of the axis is ten times the one before"
    notes = textwrap.wrap(f"{how_to_read}. {caption}", 140)
    note_top = bottom + 40
    height = note_top + 15 * len(notes)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'style="max-width:100%;height:auto" role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        "<style>text{font:12px sans-serif;fill:#222;paint-order:stroke;stroke:#fff;stroke-width:3px}"
        ".title{font-size:15px;font-weight:bold}.note{fill:#666;font-size:11px}.run{fill:#111;fill-opacity:.55}"
        ".grid{stroke:#ddd}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="{MARGIN}" y="26" class="title">{escape(title)}</text>',
        *legend(max((programs for _, programs in cases), key=len), 50),
        *axis.draw(top, bottom), *parts,
        *(f'<text x="{MARGIN}" y="{note_top + 15 * i}" class="note">{escape(note)}</text>'
          for i, note in enumerate(notes)),
        "</svg>", ""])
