"""Stoves, pots, bottles, coolers, cutlery and cups."""

from __future__ import annotations

from search_proxy.sample_store.drawing.pen import Pen


def gas_stove(pen: Pen) -> None:
    """Draw a small burner on its cartridge."""
    pen.path(
        "M132 236 H268 Q280 240 280 256 V306 Q280 318 268 318 H132 Q120 318 120 306 V256 Q120 240 132 236 Z",
        "ink",
    )
    pen.path("M132 262 H268 V296 H132 Z", "light")
    pen.box(186, 180, 28, 58, 6, "brass")
    pen.line("M214 206 H270", "steel", 6)
    pen.path("M160 160 H240 L228 182 H172 Z", "main")
    pen.line("M200 168 L112 128 M200 168 L288 128 M200 166 V118", "steel", 8)
    pen.path("M176 156 Q186 118 200 132 Q214 112 224 156 Z", "glow", 0.9)


def wood_stove(pen: Pen) -> None:
    """Draw a barrel of steel with fire in it."""
    pen.path("M168 132 Q190 76 204 110 Q222 80 236 132 Z", "glow")
    pen.path("M126 130 H274 L264 306 H136 Z", "main")
    pen.oval(200, 130, 74, 16, "deep")
    pen.path("M172 248 Q200 214 228 248 V284 H172 Z", "deep")
    pen.path("M186 284 Q194 250 202 264 Q212 248 216 284 Z", "glow")
    for x in (150, 175, 200, 225, 250):
        pen.oval(x, 172, 6, 6, "deep")
    pen.line("M140 306 L130 322 M260 306 L270 322", "ink", 8)


def two_burner(pen: Pen) -> None:
    """Draw an open case with two burners."""
    pen.path("M92 112 H308 L326 214 H74 Z", "light")
    pen.path("M74 214 H326 L334 270 H66 Z", "main")
    for x in (142, 258):
        pen.oval(x, 240, 46, 16, "ink")
        pen.oval(x, 238, 22, 7, "steel")
        pen.line(f"M{x - 44} 240 H{x + 44} M{x} 226 V254", "steel", 3)
    pen.box(66, 270, 268, 40, 8, "dark")
    pen.oval(120, 290, 12, 12, "paper")
    pen.oval(280, 290, 12, 12, "paper")


def fire_bowl(pen: Pen) -> None:
    """Draw a bowl of fire on legs."""
    pen.path("M142 186 Q162 96 192 142 Q206 76 232 140 Q262 112 262 186 Z", "glow")
    pen.line("M120 186 L160 160 M150 186 L250 152 M280 186 L230 158", "wood", 12)
    pen.oval(200, 190, 132, 24, "deep")
    pen.path("M68 190 Q200 240 332 190 Q316 278 200 280 Q84 278 68 190 Z", "main")
    pen.line("M128 264 L108 322 M272 264 L292 322 M200 280 V322", "ink", 9)


def pot_set(pen: Pen) -> None:
    """Draw two pots, one on the other."""
    pen.box(110, 206, 180, 106, 16, "main")
    pen.box(104, 198, 192, 16, 8, "steel")
    pen.box(138, 122, 124, 76, 12, "light")
    pen.box(132, 114, 136, 14, 7, "steel")
    pen.oval(200, 108, 14, 9, "ink")
    pen.line("M290 232 C338 232 338 272 292 272", "ink", 8)
    pen.line("M262 140 C296 140 296 168 262 168", "ink", 6)


def kettle(pen: Pen) -> None:
    """Draw a kettle with a bail."""
    pen.line("M128 190 C128 76 272 76 272 190", "ink", 8)
    pen.path(
        "M110 208 Q120 172 200 172 Q280 172 290 208 L304 290 Q304 316 278 316 H122 Q96 316 96 290 Z", "main"
    )
    pen.path("M292 214 L342 176 L350 190 L302 258 Z", "main")
    pen.oval(200, 174, 54, 12, "dark")
    pen.oval(200, 160, 13, 11, "wood")
    pen.path("M250 178 Q284 186 290 208 L304 290 Q304 316 278 316 H262 Q280 240 250 178 Z", "dark", 0.5)


def dutch_oven(pen: Pen) -> None:
    """Draw a three-legged pot of iron."""
    pen.line("M116 196 C116 90 284 90 284 196", "steel", 6)
    pen.path("M100 206 H300 L286 286 Q280 304 256 304 H144 Q120 304 114 286 Z", "main")
    pen.path("M92 190 Q200 164 308 190 V208 H92 Z", "dark")
    pen.line("M186 172 Q200 150 214 172", "dark", 8)
    pen.line("M138 302 V322 M262 302 V322 M200 304 V322", "dark", 11)


def mug(pen: Pen) -> None:
    """Draw a mug with its handle to the right."""
    top, side = pen.vary(118, 158), pen.vary(0, 16)
    pen.line("M268 188 C336 176 336 270 262 264", "dark", 18)
    pen.path(f"M{112 + side} {top} H{288 - side} L{276} 286 Q274 312 248 312 H152 Q126 312 124 286 Z", "main")
    pen.oval(200, top, 88 - side, 17, "light")
    pen.oval(200, top + 2, 74 - side, 12, "deep")
    pen.path(f"M{262 - side} {top + 16} L252 300 Q270 300 274 284 L{286 - side} {top + 8} Z", "dark", 0.5)
    if pen.dice.chance(0.5):
        pen.path(
            f"M{118 + side * 0.8:g} 250 Q200 264 {282 - side * 0.8:g} "
            "250 L276 286 Q274 312 248 312 H152 Q126 312 124 286 Z",
            "paper",
            0.85,
        )


def cups(pen: Pen) -> None:
    """Draw four small cups in two rows."""
    for x, y in ((132, 112), (246, 112), (104, 206), (228, 206)):
        pen.line(f"M{x + 62} {y + 22} c30 -4 30 38 -2 36", "dark", 8)
        pen.path(f"M{x} {y} h64 l-6 66 q-2 14 -16 14 h-20 q-14 0 -16 -14 Z", "main")
        pen.oval(x + 32, y, 32, 8, "light")
        pen.oval(x + 32, y + 1, 26, 5, "deep")


def bowls(pen: Pen) -> None:
    """Draw two bowls, one in the other's lee."""
    for x, y in ((186, 140), (92, 196)):
        pen.path(f"M{x} {y} q6 96 62 104 h26 q56 -8 62 -104 Z", "main")
        pen.oval(x + 75, y, 75, 17, "light")
        pen.oval(x + 75, y + 2, 64, 12, "deep")
        pen.box(x + 50, y + 100, 50, 10, 4, "dark")


def camp_cutlery(pen: Pen) -> None:
    """Draw knife, fork and spoon side by side."""
    pen.box(186, 190, 22, 132, 10, "main")
    pen.path("M186 194 V120 Q186 84 208 84 V194 Z", "steel")
    pen.box(114, 190, 22, 132, 10, "main")
    pen.path(
        "M108 84 h8 v52 h6 V84 h8 v52 h6 V84 h8 v62 q0 22 -14 30 v16 h-8 v-16 q-14 -8 -14 -30 Z", "steel"
    )
    pen.box(260, 190, 22, 132, 10, "main")
    pen.oval(271, 126, 28, 42, "steel")
    pen.line("M271 160 V196", "steel", 12)
    pen.oval(266, 120, 14, 24, "paper", 0.6)


def cutlery_set(pen: Pen) -> None:
    """Draw a place setting, in one metal."""
    pen.oval(200, 204, 96, 96, "paper")
    pen.oval(200, 204, 66, 66, "sole", 0.5)
    pen.line("M84 196 V312", "main", 11)
    pen.path("M66 92 h7 v50 h7 V92 h8 v50 h7 V92 h7 v62 q0 24 -12 30 v16 h-12 v-16 q-12 -6 -12 -30 Z", "main")
    pen.line("M316 206 V312", "main", 11)
    pen.path("M308 210 V92 Q334 104 330 210 Z", "main")
    pen.line("M362 180 V312", "main", 9)
    pen.oval(362, 136, 20, 34, "main")


def knife(pen: Pen) -> None:
    """Draw a kitchen knife across the square."""
    pen.path("M60 242 C120 150 230 120 262 132 L276 176 C220 196 130 232 60 242 Z", "steel")
    pen.path("M60 242 C130 214 220 180 274 168 L276 176 C220 196 130 232 60 242 Z", "paper", 0.9)
    pen.path("M258 128 L344 96 Q360 98 358 116 L350 138 L274 178 Z", "main")
    for x, y in ((286, 140), (310, 130), (334, 119)):
        pen.oval(x, y, 4, 4, "steel")
    pen.path("M90 300 H326 V312 H90 Z", "wood", 0.8)


def steak_knives(pen: Pen) -> None:
    """Draw a row of knives in their tray."""
    pen.box(74, 232, 252, 82, 10, "wood")
    for step in range(4):
        x = 104 + step * 56
        pen.path(f"M{x} 210 V116 Q{x + 22} 84 {x + 24} 210 Z", "steel")
        pen.box(x - 2, 206, 28, 94, 10, "main")


def pan(pen: Pen) -> None:
    """Draw a frying pan from above."""
    pen.line("M254 254 L344 336", "ink", 20)
    pen.line("M254 254 L344 336", "dark", 9)
    pen.oval(178, 188, 116, 112, "main")
    pen.oval(178, 188, 96, 92, "deep")
    pen.path("M110 142 Q140 104 196 106 Q140 124 122 172 Z", "light", 0.4)


def casserole(pen: Pen) -> None:
    """Draw a lidded pot with two handles."""
    pen.line("M84 214 H56 V238 H88 M316 214 H344 V238 H312", "dark", 12)
    pen.path("M82 190 H318 V278 Q318 314 280 314 H120 Q82 314 82 278 Z", "main")
    pen.path("M74 190 Q78 144 200 138 Q322 144 326 190 Z", "dark")
    pen.box(74, 184, 252, 14, 7, "light")
    pen.oval(200, 130, 20, 12, "steel")
    pen.path("M270 200 H318 V278 Q318 314 280 314 H258 Q276 264 270 200 Z", "dark", 0.4)


def saucepan(pen: Pen) -> None:
    """Draw a pan with a straight handle."""
    pen.line("M262 204 L362 172", "ink", 15)
    pen.path("M76 186 H268 V290 Q268 312 244 312 H100 Q76 312 76 290 Z", "main")
    pen.oval(172, 186, 98, 17, "light")
    pen.oval(172, 188, 84, 12, "deep")
    pen.path("M230 204 H268 V290 Q268 312 244 312 H222 Q238 260 230 204 Z", "dark", 0.5)


def roasting_tin(pen: Pen) -> None:
    """Draw a wide tin with standing handles."""
    pen.line("M76 198 C60 140 128 140 122 190 M324 198 C340 140 272 140 278 190", "steel", 9)
    pen.path("M58 202 H342 L316 296 Q312 308 298 308 H102 Q88 308 84 296 Z", "main")
    pen.path("M58 202 H342 L334 222 Q200 210 66 222 Z", "deep")
    pen.path("M120 202 q22 -34 50 -8 q30 -40 62 0 q26 -18 42 8 Z", "clay", 0.9)


def flask(pen: Pen) -> None:
    """Draw a vacuum flask with its cup."""
    wide = pen.vary(46, 58)
    pen.box(200 - wide, 132, 2 * wide, 190, 22, "main")
    pen.path(
        f"M{200 - wide} 150 Q{200 - wide} 122 {212 - wide} 118 "
        f"H{188 + wide} Q{200 + wide} 122 {200 + wide} 150 Z",
        "dark",
    )
    pen.box(208 - wide, 66, 2 * wide - 16, 56, 10, "steel")
    pen.box(200 + wide * 0.35, 150, wide * 0.3, 156, 8, "light", 0.5)
    pen.box(200 - wide, 300, 2 * wide, 22, 10, "deep", 0.6)


def bottle(pen: Pen) -> None:
    """Draw a drinking bottle with a loop."""
    wide = pen.vary(44, 54)
    pen.path(f"M182 108 H218 V126 Q{200 + wide} 140 {200 + wide} 172 V300 Q{200 + wide} 322 {178 + wide} 322 "
             f"H{222 - wide} Q{200 - wide} 322 {200 - wide} "
             f"300 V172 Q{200 - wide} 140 182 126 Z", "main")  # fmt: skip
    pen.box(174, 84, 52, 30, 8, "ink")
    pen.line("M184 86 C184 52 216 52 216 86", "ink", 8)
    pen.box(200 + wide * 0.3, 178, wide * 0.28, 126, 7, "light", 0.55)


def tumbler(pen: Pen) -> None:
    """Draw a travel mug with a lid."""
    pen.path("M128 120 H272 L254 298 Q252 320 232 320 H168 Q148 320 146 298 Z", "main")
    pen.path("M120 92 Q200 76 280 92 L276 128 H124 Z", "ink")
    pen.path("M136 194 H264 L258 246 H142 Z", "dark")
    pen.box(212, 78, 30, 12, 6, "steel")
    pen.path("M226 134 H246 L234 306 H220 Z", "light", 0.4)


def hard_cooler(pen: Pen) -> None:
    """Draw a cool box with a thick lid."""
    pen.box(78, 160, 244, 154, 20, "main")
    pen.box(68, 116, 264, 56, 18, "light")
    pen.line("M140 116 C140 76 260 76 260 116", "ink", 9)
    pen.box(128, 160, 26, 40, 7, "ink")
    pen.box(246, 160, 26, 40, 7, "ink")
    pen.box(100, 212, 200, 74, 12, "dark", 0.35)


def cool_bag(pen: Pen) -> None:
    """Draw a soft bag with a zip and handles."""
    pen.line("M140 156 C140 72 260 72 260 156", "ink", 9)
    pen.path("M90 150 Q200 134 310 150 L318 294 Q316 314 294 314 H106 Q84 314 82 294 Z", "main")
    pen.path("M90 150 Q200 134 310 150 L312 174 Q200 160 88 174 Z", "dark")
    pen.path("M120 216 H280 V292 H120 Z", "light", 0.55)
    pen.line("M120 216 H280", "dark", 4)


def cooler_pack(pen: Pen) -> None:
    """Draw a square pack that cools."""
    pen.line("M166 104 C166 66 234 66 234 104", "ink", 9)
    pen.box(114, 96, 172, 222, 30, "main")
    pen.line("M114 164 H286", "light", 5)
    pen.box(136, 200, 128, 98, 16, "dark")
    pen.line("M148 224 H252", "light", 4)
    pen.box(96, 206, 20, 84, 9, "deep")
    pen.box(284, 206, 20, 84, 9, "deep")
