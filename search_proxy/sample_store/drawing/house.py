"""Lamps, candles, storage and what stands in the garden."""

from __future__ import annotations

from search_proxy.sample_store.drawing.pen import Pen


def table_lamp(pen: Pen) -> None:
    """Draw a lamp with a linen shade; the foot takes one of three forms."""
    top, wide = pen.vary(40, 58), pen.vary(84, 104)
    pen.halo(200, 140, 175)
    form = pen.vary(0, 2)
    if form == 0:
        pen.path(
            "M186 196 H214 Q262 226 250 280 Q244 310 200 312 Q156 310 150 280 Q138 226 186 196 Z", "main"
        )
    elif form == 1:
        pen.path("M188 196 H212 L220 296 H180 Z", "main")
        pen.box(146, 294, 108, 20, 10, "dark")
    else:
        pen.oval(200, 222, 30, 28, "main")
        pen.oval(200, 276, 48, 38, "main")
    pen.path(f"M{200 - top} 82 H{200 + top} L{200 + wide} 196 H{200 - wide} Z", "paper")
    pen.path(f"M{200 - top} 82 H{200 + top} L{200 + wide} 196 H{200 - wide} Z", "glow", 0.35)
    pen.line(f"M{202 - wide} 194 H{198 + wide}", "brass", 3, 0.7)


def desk_lamp(pen: Pen) -> None:
    """Draw a lamp with two joints."""
    pen.path("M96 190 L58 262 H186 Z", "glow", 0.5)
    pen.line("M236 300 L286 200 L166 132", "steel", 9)
    pen.oval(286, 200, 11, 11, "brass")
    pen.path("M176 112 L206 164 Q170 206 118 214 Q104 170 136 130 Q156 112 176 112 Z", "main")
    pen.path("M206 164 Q170 206 118 214 Q150 178 206 164 Z", "glow")
    pen.path("M170 312 Q172 290 236 290 Q300 290 302 312 Z", "main")


def portable_lamp(pen: Pen) -> None:
    """Draw a small mushroom lamp."""
    pen.halo(200, 180, 175)
    pen.box(184, 182, 32, 106, 8, "dark")
    pen.path("M92 188 Q96 104 200 100 Q304 104 308 188 Q200 208 92 188 Z", "main")
    pen.path("M104 190 Q200 208 296 190 Q200 226 104 190 Z", "glow")
    pen.path("M136 314 Q138 284 200 282 Q262 284 264 314 Z", "main")


def jar_candle(pen: Pen) -> None:
    """Draw a candle in a glass."""
    pen.halo(200, 146, 100)
    pen.path("M200 92 C220 124 216 152 200 154 C184 152 180 124 200 92 Z", "glow")
    pen.line("M200 150 V176", "ink", 4)
    pen.path("M128 168 H272 V292 Q272 312 252 312 H148 Q128 312 128 292 Z", "main")
    pen.oval(200, 170, 72, 13, "paper")
    pen.box(152, 216, 96, 58, 4, "paper")
    pen.line("M168 236 H232 M180 252 H220", "ink", 3, 0.6)


def pillar_candle(pen: Pen) -> None:
    """Draw three pillars of wax, or one."""
    heights = ((200, pen.vary(130, 176), 52),) if pen.dice.chance(0.5) else ((150, 196, 40), (244, 148, 44))
    for x, top, half in heights:
        pen.halo(x, top - 26, 58)
        pen.path(f"M{x} {top - 58} q16 28 0 44 q-16 -16 0 -44 Z", "glow")
        pen.line(f"M{x} {top - 16} V{top}", "ink", 4)
        pen.box(x - half, top, 2 * half, 310 - top, 10, "main")
        pen.oval(x, top + 3, half, 10, "light")
    pen.oval(200, 312, 140, 12, "sole")


def dinner_candles(pen: Pen) -> None:
    """Draw tapers in a bundle."""
    for step in range(6):
        x = 128 + step * 26
        top = 92 + (step % 3) * 10
        pen.path(f"M{x} {top} h12 l3 {310 - top} h-18 Z", "main" if step % 2 else "light")
        pen.line(f"M{x + 6} {top} v-14", "ink", 3)
    pen.box(112, 214, 180, 34, 4, "paper")


def basket(pen: Pen) -> None:
    """Draw a round basket with handles."""
    pen.line("M104 158 C92 108 150 108 144 152 M296 158 C308 108 250 108 256 152", "dark", 9)
    pen.path("M88 156 H312 L290 300 Q288 314 270 314 H130 Q112 314 110 300 Z", "main")
    pen.oval(200, 156, 112, 20, "deep")
    for y in (188, 214, 240, 266, 292):
        pen.line(
            f"M{92 + (y - 156) * 0.15:g} {y} Q200 {y + 20} {308 - (y - 156) * 0.15:g} {y}", "dark", 3, 0.55
        )
    pen.path("M120 152 Q150 116 196 142 Q240 108 284 152 Q200 176 120 152 Z", "paper", 0.9)


def storage_box(pen: Pen) -> None:
    """Draw a box with a lid and a label."""
    pen.path("M82 174 L132 140 H342 L300 174 Z", "light")
    pen.path("M82 174 H300 V306 Q190 314 82 306 Z", "main")
    pen.path("M300 174 L342 140 V266 L300 306 Z", "dark")
    pen.line("M82 198 H300 L342 160", "deep", 3, 0.5)
    pen.box(160, 228, 62, 30, 4, "paper")


def wall_shelf(pen: Pen) -> None:
    """Draw a shelf with a few things on it."""
    pen.box(62, 236, 276, 16, 4, "main")
    pen.path("M100 252 h14 v44 Z M300 252 h-14 v44 Z", "dark")
    for x, high, paint in ((96, 78, "clay"), (118, 90, "ink"), (140, 70, "leaf"), (162, 84, "sole")):
        pen.box(x, 236 - high, 20, high, 3, paint)
    pen.path("M246 236 l6 -44 h44 l6 44 Z", "clay")
    pen.path("M274 194 q-34 -20 -26 -58 q28 14 26 58 q4 -48 36 -56 q0 40 -36 56 Z", "leaf")


def jars(pen: Pen) -> None:
    """Draw three jars with corks."""
    for x, top, fill in ((76, 176, 232), (158, 130, 204), (250, 156, 246)):
        wide = 74
        pen.box(x, top, wide, 312 - top, 12, "glass")
        pen.box(x + 5, fill, wide - 10, 306 - fill, 8, "main")
        pen.box(x + 8, top - 22, wide - 16, 28, 7, "wood")
        pen.box(x + 12, top + 16, 9, 276 - top, 4, "paper", 0.7)


def trowel(pen: Pen) -> None:
    """Draw a hand trowel standing in soil."""
    pen.box(184, 66, 32, 112, 15, "wood")
    pen.box(180, 150, 40, 30, 8, "main")
    pen.line("M200 180 V222", "steel", 12)
    pen.path("M156 218 H244 Q252 288 200 330 Q148 288 156 218 Z", "steel")
    pen.path("M200 222 V324 Q250 286 244 222 Z", "ink", 0.18)


def secateurs(pen: Pen) -> None:
    """Draw a pair of secateurs, open."""
    pen.path("M196 176 Q178 96 214 66 Q236 112 218 182 Z", "steel")
    pen.path("M198 184 Q150 150 140 104 Q188 116 222 168 Z", "ink")
    pen.path("M190 182 Q146 226 132 316 Q150 330 164 314 Q176 246 214 200 Z", "main")
    pen.path("M204 196 Q246 232 262 316 Q246 330 230 314 Q222 252 190 206 Z", "dark")
    pen.oval(205, 186, 12, 12, "brass")


def spade(pen: Pen) -> None:
    """Draw a spade with a D grip."""
    pen.line("M170 76 H230 V104 L206 124 H194 L170 104 Z", "wood", 12)
    pen.line("M200 120 V228", "wood", 15)
    pen.path("M150 216 H250 V276 Q244 316 200 332 Q156 316 150 276 Z", "steel")
    pen.box(146, 210, 108, 14, 5, "main")


def fork(pen: Pen) -> None:
    """Draw a digging fork."""
    pen.line("M170 72 H230 V100 L206 120 H194 L170 100 Z", "wood", 12)
    pen.line("M200 116 V222", "wood", 15)
    pen.line("M152 328 V236 H248 V328 M184 238 V330 M216 238 V330", "steel", 10)
    pen.box(180, 206, 40, 28, 6, "main")


def watering_can(pen: Pen) -> None:
    """Draw a can with a long neck."""
    pen.line("M196 170 C196 84 332 100 312 220", "dark", 10)
    pen.path("M166 262 L64 132 L82 118 L176 206 Z", "main")
    pen.path("M40 138 L84 96 L98 112 L58 152 Z", "brass")
    pen.path("M156 176 H296 L308 298 Q306 312 290 312 H162 Q148 312 146 298 Z", "main")
    pen.oval(226, 176, 70, 13, "deep")
    pen.path("M262 190 H297 L308 298 Q306 312 290 312 H264 Q278 250 262 190 Z", "dark", 0.45)


def _leaves(pen: Pen, x: float, y: float) -> None:
    for lean, reach in ((-64, -66), (-34, -100), (4, -116), (40, -96), (66, -60)):
        pen.path(
            f"M{x} {y} q{lean * 0.2 - 14:g} {reach * 0.7:g} {lean} {reach} "
            f"q{18 - lean * 0.1:g} {-reach * 0.4:g} {-lean} {-reach} Z",
            "leaf",
        )


def plant_pot(pen: Pen) -> None:
    """Draw a pot with a plant."""
    wide = pen.vary(66, 84)
    _leaves(pen, 200, 204)
    pen.path(f"M{200 - wide} 198 H{200 + wide} L{188 + wide * 0.8:g} "
    f"300 Q{186 + wide * 0.8:g} 314 {172 + wide * 0.8:g} 314 "
             f"H{228 - wide * 0.8:g} Q{214 - wide * 0.8:g} "
             f"314 {212 - wide * 0.8:g} 300 Z", "main")  # fmt: skip
    if pen.dice.chance(0.5):
        pen.box(192 - wide, 190, 2 * wide + 16, 26, 6, "dark")
    pen.path(
        f"M{178 + wide} 214 L{186 + wide * 0.8:g} 304 Q{172 + wide * 0.8:g} 314 "
        f"{160 + wide * 0.7:g} 314 Q{176 + wide * 0.8:g} 260 {170 + wide} 214 Z",
        "dark",
        0.4,
    )


def window_box(pen: Pen) -> None:
    """Draw a long box of plants."""
    for x in (106, 168, 232, 294):
        _leaves(pen, x, 226)
        pen.oval(x + 4, 122 + (x % 5) * 6, 13, 13, "clay")
    pen.path("M58 218 H342 L328 304 H72 Z", "main")
    pen.box(52, 210, 296, 20, 5, "dark")


def raised_bed(pen: Pen) -> None:
    """Draw a bed of boards on legs."""
    for x in (110, 200, 290):
        _leaves(pen, x, 190)
    pen.box(64, 182, 272, 76, 4, "main")
    pen.line("M64 207 H336 M64 232 H336", "dark", 3, 0.5)
    pen.box(70, 182, 16, 136, 3, "dark")
    pen.box(314, 182, 16, 136, 3, "dark")


def hanging_planter(pen: Pen) -> None:
    """Draw a pot on cords with trailing leaves."""
    pen.line("M200 62 L134 196 M200 62 L266 196 M200 62 V190", "wood", 4)
    pen.oval(200, 62, 9, 9, "brass")
    _leaves(pen, 200, 202)
    pen.path("M122 194 H278 Q274 274 200 280 Q126 274 122 194 Z", "main")
    pen.line("M146 206 C120 250 150 280 128 318 M256 206 C286 250 256 276 276 308", "leaf", 8)
