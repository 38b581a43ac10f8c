"""Furniture for the camp, and what makes a bed, a sofa and a floor."""

from __future__ import annotations

from search_proxy.sample_store.drawing.pen import Pen


def camp_chair(pen: Pen) -> None:
    """Draw a folding chair from the front."""
    pen.line("M112 316 L268 214 M288 316 L132 214", "steel", 8)
    pen.line("M118 96 V226 M282 96 V226", "steel", 8)
    pen.path("M118 92 Q200 110 282 92 L276 214 Q200 232 124 214 Z", "main")
    pen.path("M124 206 Q200 226 276 206 L294 246 Q200 270 106 246 Z", "dark")
    pen.line("M92 190 H128 M272 190 H308", "wood", 12)
    pen.dashes("M134 112 Q200 126 266 112")


def stool(pen: Pen) -> None:
    """Draw a small folding seat."""
    pen.line("M122 312 L252 186 M278 312 L148 186 M200 250 L200 318", "steel", 8)
    pen.path("M96 172 Q200 216 304 172 L296 202 Q200 246 104 202 Z", "main")
    pen.path("M96 172 Q200 150 304 172 Q200 216 96 172 Z", "dark")


def folding_table(pen: Pen) -> None:
    """Draw a table with crossed legs."""
    pen.line("M112 186 L288 312 M288 186 L112 312", "steel", 9)
    pen.path("M64 168 H336 L344 190 H56 Z", "main")
    for x in range(96, 330, 34):
        pen.line(f"M{x} 168 L{x - 2} 188", "dark", 2, 0.5)
    pen.box(56, 188, 288, 10, 4, "dark")
    pen.path("M232 168 h36 l-4 -34 h-28 Z", "paper")


def hammock(pen: Pen) -> None:
    """Draw a hammock between two trunks."""
    pen.box(48, 84, 22, 236, 8, "wood")
    pen.box(330, 84, 22, 236, 8, "wood")
    pen.line("M70 140 L112 176 M330 140 L288 176", "ink", 4)
    pen.path("M104 170 Q200 204 296 170 Q284 268 200 276 Q116 268 104 170 Z", "main")
    pen.path("M104 170 Q200 330 296 170 Q276 244 200 250 Q124 244 104 170 Z", "dark", 0.7)


def camp_bed(pen: Pen) -> None:
    """Draw a low bed on crossed legs."""
    pen.line("M92 306 L132 232 M128 306 L92 232 M182 306 L218 232 "
    "M218 306 L182 232 M272 306 L308 232 M308 306 L268 232",
             "steel", 7)  # fmt: skip
    pen.path("M52 216 L92 178 H348 L332 228 Q200 246 62 236 Z", "main")
    pen.path("M52 216 L62 236 Q200 246 332 228 L336 214 Q200 232 52 216 Z", "dark")
    pen.path("M76 200 L98 178 H150 L132 208 Z", "light")


def duvet_set(pen: Pen) -> None:
    """Draw a made bed with two pillows."""
    pen.box(74, 96, 252, 90, 12, "wood")
    pen.box(92, 128, 96, 60, 20, "paper")
    pen.box(212, 128, 96, 60, 20, "light")
    pen.path("M72 184 Q200 164 328 184 L342 302 Q200 318 58 302 Z", "main")
    pen.path("M72 184 Q200 164 328 184 L331 214 Q200 192 69 214 Z", "light")
    pen.line("M124 230 Q132 270 122 302 M206 224 Q212 266 204 308 M286 230 Q284 268 292 302", "dark", 4, 0.5)


def fitted_sheet(pen: Pen) -> None:
    """Draw a mattress in its sheet."""
    pen.path("M60 212 L128 152 H340 L300 212 Z", "light")
    pen.path("M60 212 H300 V268 Q180 280 60 268 Z", "main")
    pen.path("M300 212 L340 152 V206 L300 268 Z", "dark")
    pen.line("M72 222 q10 22 0 42 M288 222 q-10 22 0 42", "dark", 3, 0.5)
    pen.dashes("M64 262 Q180 274 296 262", "dark")


def duvet(pen: Pen) -> None:
    """Draw a plump duvet, folded once."""
    pen.path(
        "M70 262 Q56 180 96 164 Q200 136 304 164 Q344 180 330 262 Q318 306 200 308 Q82 306 70 262 Z", "main"
    )
    pen.path("M66 226 Q200 196 334 226 Q336 250 326 262 Q200 234 74 262 Q64 250 66 226 Z", "light")
    for x in (130, 200, 270):
        pen.line(f"M{x} 152 Q{x + 6} 186 {x} 212 M{x} 252 Q{x - 6} 280 {x} 302", "dark", 3, 0.5)


def pillow(pen: Pen) -> None:
    """Draw two pillows."""
    for x, y, paint in ((110, 118, "light"), (66, 182, "main")):
        pen.path(f"M{x} {y + 10} q112 -26 224 0 q14 50 0 100 q-112 26 -224 0 q-14 -50 0 -100 Z", paint)
        pen.line(f"M{x + 16} {y + 24} q16 14 28 10 M{x + 208} {y + 24} q-16 14 -28 10", "dark", 3, 0.6)


def throw(pen: Pen) -> None:
    """Draw a folded throw with fringes."""
    stripes = int(pen.vary(1, 3))
    pen.path("M92 130 Q200 112 308 130 L318 276 Q200 294 82 276 Z", "main")
    pen.path("M92 130 Q200 112 308 130 L311 176 Q200 158 89 176 Z", "light")
    for step in range(stripes):
        y = 206 + step * 22
        pen.line(f"M86 {y} Q200 {y + 18} 314 {y}", "light" if step % 2 else "dark", 7, 0.7)
    for x in range(92, 314, 13):
        pen.line(f"M{x} 278 l-2 30", "dark", 3, 0.9)


def picnic(pen: Pen) -> None:
    """Draw a checked blanket, rolled at one end."""
    pen.path("M74 178 L270 138 L340 250 L128 304 Z", "paper")
    for step in range(4):
        x, y = 74 + step * 50, 178 - step * 10
        pen.path(f"M{x} {y} l26 -5 l58 122 l-28 7 Z", "main", 0.7)
    for step in range(3):
        x, y = 88 + step * 18, 204 + step * 38
        pen.path(f"M{x} {y} l198 -44 l11 18 l-199 48 Z", "main", 0.55)
    pen.line("M70 180 L124 306", "dark", 22)
    pen.line("M80 206 l20 -8 M108 270 l20 -8", "wood", 8)


def _rug(pen: Pen, left: float, right: float) -> None:
    pen.path(f"M{left} 92 H{right} V308 H{left} Z", "main")
    for x in range(int(left) + 4, int(right), 9):
        pen.line(f"M{x} 308 v12 M{x} 92 v-12", "light", 3, 0.9)


def striped_rug(pen: Pen) -> None:
    """Draw a flat rug with stripes."""
    _rug(pen, 104, 296)
    for step in range(int(pen.vary(5, 8))):
        y = 108 + step * 26
        paint = ("light", "deep", "paper")[step % 3]
        pen.box(104, y, 192, (6, 12, 4)[step % 3], 0, paint, 0.75)


def field_rug(pen: Pen) -> None:
    """Draw a deep rug with a border and a quiet middle."""
    pen.box(96, 88, 208, 224, 8, "main")
    pen.box(112, 104, 176, 192, 4, "light", 0.55)
    pen.box(124, 116, 152, 168, 4, "main")
    turn = pen.vary(0, 2)
    if turn == 0:
        for radius in (60, 42, 24):
            pen.oval(200, 200, radius, radius + 8, "light" if radius != 42 else "dark", 0.6)
    else:
        for x in (150, 183, 216, 249):
            pen.path(
                f"M{x} 140 l16 28 l-16 28 l-16 -28 Z M{x} 206 l16 28 l-16 28 l-16 -28 Z",
                "light" if turn == 1 else "dark",
                0.6,
            )


def runner(pen: Pen) -> None:
    """Draw a narrow rug running away."""
    pen.path("M164 84 H236 L282 316 H118 Z", "main")
    pen.path("M176 84 H184 L150 316 H138 Z M224 84 H216 L250 316 H262 Z", "light", 0.8)
    for y, half in ((120, 24), (164, 30), (214, 38), (268, 46)):
        pen.path(f"M200 {y - 12} l{half * 0.5:g} 12 l-{half * 0.5:g} 14 l-{half * 0.5:g} -14 Z", "deep", 0.6)


def cushion(pen: Pen) -> None:
    """Draw a square cushion."""
    pen.path("M92 112 Q200 134 308 112 Q286 204 308 300 Q200 278 92 300 Q114 204 92 112 Z", "main")
    pen.path("M308 112 Q286 204 308 300 Q262 290 226 288 Q276 216 250 124 Q280 118 308 112 Z", "dark", 0.4)
    if pen.dice.chance(0.5):
        pen.line("M112 128 Q130 204 112 284 M288 128 Q270 204 288 284", "light", 4, 0.7)
    pen.line("M104 124 q22 18 34 36 M296 124 q-22 18 -34 36", "dark", 3, 0.5)


def bolster(pen: Pen) -> None:
    """Draw a long cushion."""
    pen.path("M56 158 Q200 138 344 158 Q330 208 344 262 Q200 282 56 262 Q70 208 56 158 Z", "main")
    pen.path("M56 158 Q70 208 56 262 Q96 268 104 210 Q98 156 56 158 Z", "light", 0.6)
    pen.line("M296 156 Q282 208 296 266", "dark", 4, 0.5)


def seat_cushion(pen: Pen) -> None:
    """Draw a garden cushion with ties."""
    pen.line("M96 152 q-30 -8 -34 20 M304 152 q30 -8 34 20", "dark", 6)
    pen.path("M88 150 Q200 128 312 150 L326 244 Q200 266 74 244 Z", "light")
    pen.path("M74 244 Q200 266 326 244 V276 Q200 300 74 276 Z", "dark")
    for x, y in ((150, 182), (250, 182), (140, 220), (260, 220)):
        pen.oval(x, y, 5, 4, "deep")


def towel(pen: Pen) -> None:
    """Draw a stack of folded towels."""
    for step in range(3):
        y = 254 - step * 58
        paint = ("main", "light", "main")[step]
        pen.box(86 + step * 6, y, 228 - step * 12, 54, 24, paint)
        pen.line(f"M{110 + step * 6} {y + 28} H{300 - step * 6}", "dark", 4, 0.55)


def beach_towel(pen: Pen) -> None:
    """Draw a striped towel hanging."""
    pen.line("M76 92 H324", "wood", 10)
    pen.path("M112 92 H288 V306 H112 Z", "paper")
    for x in (112, 156, 200, 244):
        pen.box(x, 92, 22, 214, 0, "main")
    for x in range(116, 288, 11):
        pen.line(f"M{x} 306 v14", "dark", 2, 0.8)


def travel_towel(pen: Pen) -> None:
    """Draw a towel rolled in its band."""
    pen.box(78, 164, 232, 110, 54, "main")
    pen.oval(300, 219, 42, 55, "light")
    pen.line("M300 188 q24 8 22 32 q-4 24 -24 22 q-18 -6 -14 -24 q6 -12 18 -6", "dark", 4)
    pen.box(150, 162, 30, 114, 4, "ink")
    pen.line("M165 162 q-6 -34 22 -36", "ink", 5)
