"""A bar a program and case, as SVG: the median as the bar, every run as a dot, ratios as text."""

import textwrap
from xml.sax.saxutils import escape

# Told apart by people who see few colours, and in grey.
COLOURS = ("#1b6ca8", "#d1872b", "#6b6b6b")
WIDTH, LEFT, RIGHT, BAR, GAP = 860, 270, 150, 16, 18


def number(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def bars(title, caption, cases, unit="s"):
    """cases: a list of (name, [(program, median, [runs]), ...]); the first program is ours. Returns the SVG's text.

    Each case has an axis of its own: the longest bar fills it, since cases differ by orders of magnitude.
    """
    parts = []
    y = 52
    for name, programs in cases:
        longest = max(max(runs) for _, _, runs in programs)
        scale = (WIDTH - LEFT - RIGHT) / longest
        parts.append(f'<text x="{LEFT - 10}" y="{y + BAR * len(programs) / 2 + 5:.0f}" '
                     f'text-anchor="end" class="case">{escape(name)}</text>')
        ours = programs[0][1]
        for i, (program, median, runs) in enumerate(programs):
            top = y + i * BAR
            width = max(1.0, median * scale)
            parts.append(f'<rect x="{LEFT}" y="{top + 1}" width="{width:.1f}" height="{BAR - 3}" '
                         f'fill="{COLOURS[i % len(COLOURS)]}"><title>{escape(program)}: {number(median)} {unit}'
                         f'</title></rect>')
            parts.extend(f'<circle cx="{LEFT + value * scale:.1f}" cy="{top + BAR / 2:.1f}" r="2.2" class="run"/>'
                         for value in runs)
            ratio = "" if i == 0 else f", {median / ours:.1f} times"
            parts.append(f'<text x="{LEFT + max(width, max(runs) * scale) + 7:.1f}" y="{top + BAR - 4}">'
                         f'{number(median)} {unit}{ratio}</text>')
        y += BAR * len(programs) + GAP
    legend = []
    x = LEFT
    for i, program in enumerate(program for program, _, _ in cases[0][1]):
        legend.append(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{COLOURS[i % len(COLOURS)]}"/>'
                      f'<text x="{x + 18}" y="{y + 10}">{escape(program)}</text>')
        x += 40 + 8 * len(program)
    notes = textwrap.wrap(caption, 130)
    height = y + 34 + 15 * len(notes)
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title)}">',
        f"<title>{escape(title)}</title>",
        "<style>text{font:12px sans-serif;fill:#222}.title{font-size:15px;font-weight:bold}.note{fill:#666;"
        "font-size:11px}.run{fill:#111;fill-opacity:.55}</style>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="16" y="26" class="title">{escape(title)}</text>',
        *parts, *legend,
        *(f'<text x="16" y="{y + 36 + 15 * i}" class="note">{escape(note)}</text>' for i, note in enumerate(notes)),
        "</svg>", ""])
