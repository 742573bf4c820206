"""A table and a plot of the results of ./bench herd."""
import xml.sax.saxutils

COLOURS = ('#b3261e', '#c77700', '#6b6b00', '#00639b', '#146c2e')
WIDTH, HEIGHT, LEFT, TOP, SECONDS = 860, 380, 70, 20, 60
BIN_S = 0.25


def table(rows):
    """One row for each kind of client."""
    lines = [f'{rows[0]["clients"]:,} clients, {rows[0]["served_per_s"]:,.0f} served a second once it is back',
             f'{"":<22}{"peak":>8}{"tries":>9}{"refused":>9}{"503":>9}{"in vain":>9}{"all answered":>14}']
    for row in rows:
        peak = row['peak_per_s'] / row['served_per_s']
        last = f'{row["last_s"]:.1f} s' if not row['gave_up'] else f'{row["gave_up"]} gave up'
        in_vain = row['in_vain'] / row['served'] if row['served'] else 0
        lines.append(f'{row["name"]:<22}{peak:>7.1f}x{row["sent"] / row["clients"]:>9.2f}{row["refused"] / row["clients"]:>9.2f}'
                     f'{row["overflow"] / row["clients"]:>9.2f}{in_vain:>9.0%}{last:>14}')
    return '\n'.join(lines) + '\n'


def smoothed(tries):
    """Tries a second, over each whole second."""
    per_second = round(1 / BIN_S)
    return [sum(tries[at:at + per_second]) for at in range(0, len(tries), per_second)]


def svg(rows):
    """Tries a second over time, one line for each kind of client."""
    lines = [(row['name'], smoothed(row['tries'])[:SECONDS]) for row in rows]
    most = max(max(line) for _, line in lines) * 1.05
    x = lambda second: LEFT + (WIDTH - LEFT - 20) * second / SECONDS
    y = lambda value: TOP + (HEIGHT - TOP - 50) * (1 - value / most)
    served = rows[0]['served_per_s']
    text = lambda at_x, at_y, what, more='': (f'<text x="{at_x:.0f}" y="{at_y:.0f}" {more}>'
                                              f'{xml.sax.saxutils.escape(what)}</text>')
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
             f'<rect x="{x(0):.0f}" y="{TOP}" width="{x(10) - x(0):.0f}" height="{y(0) - TOP:.0f}" fill="#eee"/>',
             text(x(0) + 8, TOP + 18, 'down'),
             f'<line x1="{x(0):.0f}" x2="{x(SECONDS):.0f}" y1="{y(served):.0f}" y2="{y(served):.0f}" stroke="#000" stroke-dasharray="4 4"/>',
             text(x(SECONDS) - 4, y(served) - 6, 'what it serves', 'text-anchor="end"')]
    for second in range(0, SECONDS + 1, 10):
        parts.append(text(x(second), y(0) + 20, f'{second} s', 'text-anchor="middle"'))
    for value in range(0, int(most / served) + 1):
        parts.append(text(LEFT - 8, y(value * served) + 4, f'{value * served:,.0f}', 'text-anchor="end"'))
    for (name, line), colour in zip(lines, COLOURS):
        points = ' '.join(f'{x(second + 0.5):.1f},{y(value):.1f}' for second, value in enumerate(line))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for n, ((name, _), colour) in enumerate(zip(lines, COLOURS)):
        parts.append(f'<rect x="{x(33):.0f}" y="{TOP + 8 + 20 * n}" width="14" height="4" fill="{colour}"/>')
        parts.append(text(x(33) + 22, TOP + 15 + 20 * n, name))
    parts.append(text(LEFT, HEIGHT - 8, 'tries a second that reach for the server, by when it was down and after it came back'))
    return '\n'.join(parts) + '\n</svg>\n'
