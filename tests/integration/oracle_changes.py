"""Change points a second time, from their definitions: sums over all pairs, the t distribution by integration; and an exact
piecewise-constant fit, which is another method altogether."""
import math
import statistics

WINDOW, STEP, SEGMENT, NEIGHBOURS = 50, 25, 4, 7


def quartile(values, share):
    v = sorted(values)
    at = share * (len(v) - 1)
    low = int(at)
    return v[low] + (at - low) * (v[min(low + 1, len(v) - 1)] - v[low])


def robust_sd(values):
    middle = statistics.median(values)
    return 1.4826 * statistics.median([abs(v - middle) for v in values])


def t_two_sided(t, df):
    """P(|T| > t), by Simpson's rule over the angle: with T = sqrt(df) tan(u) the density is cos(u)^(df - 1)."""
    top = math.atan(t / math.sqrt(df))
    density = lambda u: math.cos(u) ** (df - 1)

    def simpson(a, b, n=2000):
        h = (b - a) / n
        return h / 3 * sum((1 if i in (0, n) else 4 if i % 2 else 2) * density(a + i * h) for i in range(n + 1))

    # The tail itself, not 1 minus the middle: small probabilities keep their digits.
    whole = math.exp(math.lgamma(df / 2) - math.lgamma((df + 1) / 2)) * math.sqrt(math.pi) / 2
    return max(0.0, simpson(top, math.pi / 2) / whole)


def welch(a, b):
    if len(a) < 2 or len(b) < 2:
        return 1.0
    va, vb = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    if len(set(a)) == 1 and len(set(b)) == 1:
        return 1.0 if a[0] == b[0] else 0.0
    t = abs(statistics.fmean(a) - statistics.fmean(b)) / math.sqrt(va + vb)
    df = (va + vb) ** 2 / (va ** 2 / (len(a) - 1) + vb ** 2 / (len(b) - 1))
    return t_two_sided(t, df)


def q_of(a, b):
    m, n = len(a), len(b)
    between = sum(abs(x - y) for x in a for y in b)
    inside = lambda v: sum(abs(v[i] - v[j]) for i in range(len(v)) for j in range(i + 1, len(v)))
    return m * n / (m + n) * (2 / (m * n) * between - 2 / (m * (m - 1)) * inside(a) - 2 / (n * (n - 1)) * inside(b))


def side(values, at):
    near = [values[i] for i in range(max(0, at - NEIGHBOURS), min(len(values), at + NEIGHBOURS + 1)) if i != at]
    if len(near) < SEGMENT:
        return 0, 0.0
    middle, reach = statistics.median(near), 5 * robust_sd(near)
    which = (values[at] > middle + reach) - (values[at] < middle - reach)
    return which, middle + which * reach


def tame(values):
    sides = [side(values, i) for i in range(len(values))]
    out, spikes = list(values), []
    for i, (which, limit) in enumerate(sides):
        beside = [sides[j][0] for j in (i - 1, i + 1) if 0 <= j < len(values)]
        if which and which not in beside:
            out[i] = limit
            spikes.append(i)
    return out, spikes


def weak_points(v):
    points = set()

    def split(first, end):
        best = None
        for at in range(first + SEGMENT, end - SEGMENT + 1):
            q = q_of(v[first:at], v[at:end])
            if best is None or q > best[0] + 1e-9 * abs(best[0]):
                best = (q, at)
        if best and welch(v[first:best[1]], v[best[1]:end]) <= 0.01:
            points.add(best[1])
            split(first, best[1])
            split(best[1], end)

    first = 0
    while True:
        if first + WINDOW >= len(v):
            split(max(0, len(v) - WINDOW) if len(v) > WINDOW else first, len(v))
            return sorted(points)
        split(first, first + WINDOW)
        first += STEP


def changes(values, exact=False):
    v, spikes = tame(values)
    noise = None
    if not exact and len(values) >= 10:
        recent = values[-31:]
        moves = [abs(b / a - 1) for a, b in zip(recent, recent[1:]) if a]
        if len(moves) >= 9:
            noise = quartile(moves, .75) + 3 * (quartile(moves, .75) - quartile(moves, .25))
    points = weak_points(v)

    def judge(i):
        a = v[points[i - 1] if i else 0:points[i]]
        b = v[points[i]:points[i + 1] if i + 1 < len(points) else len(v)]
        p = 1.0 if min(len(a), len(b)) < SEGMENT else welch(a, b)
        ma, mb = statistics.median(a), statistics.median(b)
        if exact:
            size = math.inf if ma != mb else 0
        else:
            least = max(0.02, (noise or 0) / math.sqrt(min(len(a), len(b)))) * abs(ma)
            size = abs(mb - ma) / least if least else (math.inf if ma != mb else 0)
        return p, size, ma, mb

    def strength(i):
        first = points[i - 2] if i > 1 else 0
        end = points[i + 2] if i + 2 < len(points) else len(v)
        a, b = v[first:points[i]], v[points[i]:end]
        return abs(statistics.median(a) - statistics.median(b)) * math.sqrt(len(a) * len(b))

    while points:
        judged = [judge(i) for i in range(len(points))]
        worst = max(judged, key=lambda j: j[0])[0]
        if worst > 0.001:
            equal = [i for i, j in enumerate(judged) if j[0] == worst]
            del points[min(equal, key=strength)]
            continue
        smallest = min(range(len(points)), key=lambda i: judged[i][1])
        if judged[smallest][1] >= 1:
            break
        del points[smallest]
    return [(points[i], *judge(i)) for i in range(len(points))], spikes


def piecewise(values, penalty):
    """Where an exact fit by constants in the sum of absolute deviations, plus `penalty` for each change, has its changes."""
    n = len(values)
    best, last = [0.0] + [math.inf] * n, [0] * (n + 1)
    for end in range(1, n + 1):
        for first in range(end):
            part = values[first:end]
            middle = statistics.median(part)
            cost = best[first] + sum(abs(x - middle) for x in part) + penalty
            if cost < best[end]:
                best[end], last[end] = cost, first
    points, at = [], n
    while last[at]:
        at = last[at]
        points.append(at)
    return points[::-1]
