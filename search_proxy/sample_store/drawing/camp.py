"""Tents, bags, packs, lights and everything else for the campsite."""

from __future__ import annotations

from search_proxy.sample_store.drawing.pen import Pen


def ridge_tent(pen: Pen) -> None:
    """Draw a trekking tent from the side, its door open."""
    top = pen.vary(118, 138)
    lean = pen.vary(176, 200)
    pen.path(f"M52 298 Q120 226 {lean} {top} Q268 214 352 298 Z", "main")
    pen.path(f"M{lean} {top} Q268 214 352 298 L236 298 Z", "dark")
    pen.path(f"M{lean} {top} L150 298 L236 298 Z", "deep")
    pen.path(f"M{lean} {top} L150 298 L178 298 Q190 214 {lean} {top} Z", "light")
    pen.line(f"M{lean} {top} L{lean} {top - 14}", "ink", 4)
    pen.line("M52 298 L30 304 M352 298 L374 304", "ink", 3)
    pen.dashes(f"M86 268 Q140 206 {lean - 6} {top + 22}")


def dome_tent(pen: Pen) -> None:
    """Draw a round tent with crossed poles."""
    top = pen.vary(120, 142)
    pen.path(f"M58 298 C70 {top - 10} 330 {top - 10} 342 298 Z", "main")
    pen.path(f"M200 {top + 22} C276 {top + 20} 330 214 342 298 L254 298 Z", "dark", 0.75)
    pen.path("M150 298 C150 218 172 182 200 182 C228 182 250 218 250 298 Z", "deep")
    pen.path("M150 298 C150 218 172 182 200 182 C190 220 190 262 192 298 Z", "light")
    pen.line(f"M58 298 C100 {top + 20} 190 {top + 4} 262 {top + 42}", "ink", 3, 0.55)
    pen.line(f"M342 298 C300 {top + 20} 210 {top + 4} 138 {top + 42}", "ink", 3, 0.55)
    pen.line("M58 298 L34 306 M342 298 L366 306", "ink", 3)


def tunnel_tent(pen: Pen) -> None:
    """Draw a long family tent with hoops and a window."""
    high = pen.vary(136, 152)
    pen.path(f"M30 300 C34 {high} 80 {high} 118 {high} L292 {high} C340 {high} 366 190 370 300 Z", "main")
    for x in (118, 204, 290):
        pen.line(f"M{x} {high} C{x + 26} {high + 40} {x + 28} 240 {x + 26} 300", "dark", 5, 0.8)
    pen.path(f"M30 300 C34 {high} 80 {high} 118 {high} C142 200 146 250 144 300 Z", "light")
    pen.path("M66 300 C66 232 80 200 96 200 C116 200 124 240 122 300 Z", "deep")
    pen.box(172, 206, 36, 34, 8, "glass")
    pen.box(256, 206, 36, 34, 8, "glass")


def geodesic_tent(pen: Pen) -> None:
    """Draw an expedition tent with many crossings."""
    pen.path("M46 300 C64 210 120 128 200 122 C280 128 336 210 354 300 Z", "main")
    pen.path("M200 122 C280 128 336 210 354 300 L270 300 C268 220 244 164 200 122 Z", "dark", 0.8)
    for outline in (
        "M46 300 C90 190 190 120 286 160", "M354 300 C310 190 210 120 114 160",
        "M120 300 C130 210 "
        "160 150 200 122", "M280 300 C270 210 240 150 200 122", "M72 228 C150 184 250 184 328 228",
    ):  # fmt: skip
        pen.line(outline, "ink", 3, 0.6)
    pen.path("M164 300 C166 246 180 220 200 220 C220 220 234 246 236 300 Z", "deep")
    pen.path("M30 306 Q200 288 370 306 L370 312 Q200 300 30 312 Z", "paper")


def tarp(pen: Pen) -> None:
    """Draw a tarp between two poles."""
    pen.line("M96 304 L96 132 M304 304 L304 132", "wood", 7)
    pen.path("M60 190 Q96 150 200 146 Q304 150 340 190 L304 132 Q200 122 96 132 Z", "light")
    pen.path("M60 232 L96 132 Q200 158 304 132 L340 232 Q200 200 60 232 Z", "main")
    pen.path("M304 132 L340 232 Q270 208 200 204 L200 148 Q256 146 304 132 Z", "dark", 0.55)
    pen.line("M60 232 L34 302 M340 232 L366 302", "ink", 3)


def beach_shelter(pen: Pen) -> None:
    """Draw a half shell on sand."""
    pen.oval(200, 300, 160, 16, "sole")
    pen.path(
        "M56 296 C60 150 150 122 214 126 C300 132 344 220 346 296 L292 296 C270 214 190 180 104 296 Z", "main"
    )
    pen.path("M104 296 C190 180 270 214 292 296 Z", "deep", 0.85)
    pen.path("M104 296 C150 236 200 214 236 230 C180 250 170 276 168 296 Z", "light", 0.9)
    pen.line("M214 126 C180 180 130 230 104 296", "light", 4)


def shade_sail(pen: Pen) -> None:
    """Draw a triangular sail under a sun."""
    pen.oval(302, 112, 30, 30, "glow")
    pen.line("M70 300 L70 128 M330 300 L330 190 M206 306 L206 246", "steel", 6)
    pen.path("M70 128 Q190 190 330 190 Q250 214 206 246 Q146 190 70 128 Z", "main")
    pen.path("M330 190 Q250 214 206 246 Q196 214 190 182 Q262 192 330 190 Z", "dark", 0.6)


def mummy_bag(pen: Pen) -> None:
    """Draw a sleeping bag standing up, hood at the top."""
    foot = pen.vary(46, 58)
    pen.path(f"M200 66 C262 66 278 130 268 196 C262 246 {200 + foot} 290 {200 + foot} 316 "
             f"Q200 338 {200 - foot} 316 C{200 - foot} 290 "
             "138 246 132 196 C122 130 138 66 200 66 Z", "main")  # fmt: skip
    pen.oval(200, 118, 40, 42, "deep")
    pen.oval(200, 124, 30, 32, "paper", 0.9)
    for y in (182, 216, 250, 284):
        pen.line(f"M142 {y} Q200 {y + 16} 258 {y}", "dark", 3, 0.7)
    pen.line("M238 140 C250 190 236 250 232 318", "light", 4)


def blanket_bag(pen: Pen) -> None:
    """Draw a square bag, one corner turned back."""
    pen.box(116, 86, 168, 236, 22, "main")
    for y in (136, 180, 224, 268):
        pen.line(f"M118 {y} H282", "dark", 3, 0.6)
    pen.path("M200 86 H262 Q284 86 284 108 V196 Q226 168 200 86 Z", "light")
    pen.line("M284 196 Q226 168 200 86", "dark", 3)


def air_mat(pen: Pen) -> None:
    """Draw a mat with its chambers, the end rolled."""
    pen.path("M128 88 Q200 66 272 88 L282 300 Q200 326 118 300 Z", "main")
    for shift in (-48, -16, 16, 48):
        pen.line(f"M{200 + shift} 96 L{200 + shift * 1.12:g} 302", "dark", 5, 0.5)
    pen.path("M128 88 Q200 66 272 88 L273 118 Q200 98 127 118 Z", "light")
    pen.oval(268, 296, 9, 9, "ink")


def foam_mat(pen: Pen) -> None:
    """Draw a folded foam mat."""
    for step in range(6):
        y = 262 - step * 32
        pen.path(f"M96 {y} L268 {y - 18} L310 {y + 4} L138 {y + 24} Z", "light" if step % 2 else "main")
        pen.path(f"M96 {y} L138 {y + 24} V{y + 38} L96 {y + 14} Z", "dark")
        pen.path(f"M138 {y + 24} L310 {y + 4} V{y + 18} L138 {y + 38} Z", "main")


def daypack(pen: Pen) -> None:
    """Draw a small pack from the front."""
    pen.line("M168 96 C168 62 232 62 232 96", "ink", 9)
    pen.path(
        "M118 168 C118 102 156 86 200 86 C244 86 282 102 282 "
        "168 V288 Q282 314 256 314 H144 Q118 314 118 288 Z"
    )
    pen.path("M134 214 H266 V284 Q266 300 250 300 H150 Q134 300 134 284 Z", "dark")
    pen.line("M140 214 H260", "light", 4)
    pen.line("M132 160 C136 112 264 112 268 160", "light", 4, 0.8)
    pen.path(
        "M104 216 Q118 210 118 222 V286 Q104 286 102 270 Z M296 216 Q282 210 282 222 V286 Q296 286 298 270 Z",
        "deep",
    )
    pen.box(186, 140, 28, 20, 4, "wood")


def trekking_pack(pen: Pen) -> None:
    """Draw a tall pack with a lid."""
    pen.path("M126 142 H274 L284 296 Q284 324 256 324 H144 Q116 324 116 296 Z", "main")
    pen.path("M132 84 Q200 60 268 84 Q284 92 282 124 L276 150 H124 L118 124 Q116 92 132 84 Z", "dark")
    pen.line("M164 150 V206 M236 150 V206", "ink", 7)
    pen.box(156, 196, 16, 22, 3, "steel")
    pen.box(228, 196, 16, 22, 3, "steel")
    pen.path("M150 232 H250 V306 Q200 318 150 306 Z", "light", 0.75)
    pen.path(
        "M98 232 Q116 226 118 240 V306 Q100 302 96 284 Z M302 232 Q284 226 282 240 V306 Q300 302 304 284 Z",
        "deep",
    )
    pen.line("M306 96 L298 318", "steel", 5)


def roll_pack(pen: Pen) -> None:
    """Draw an ultralight pack with a rolled top."""
    pen.path("M130 118 H270 L280 292 Q280 318 254 318 H146 Q120 318 120 292 Z", "main")
    pen.path("M124 92 H276 Q286 106 276 122 H124 Q114 106 124 92 Z", "dark")
    pen.line("M130 106 C96 130 104 180 124 196 M270 106 C304 130 296 180 276 196", "ink", 5)
    pen.path("M148 182 Q200 170 252 182 L256 302 H144 Z", "deep", 0.7)
    for x in (170, 190, 210, 230):
        pen.line(f"M{x} 184 V300", "light", 1.5, 0.5)


def duffel(pen: Pen) -> None:
    """Draw a barrel bag with handles."""
    pen.line("M140 206 C140 120 260 120 260 206", "ink", 9)
    pen.path("M78 186 Q60 240 78 292 H322 Q340 240 322 186 Z", "main")
    pen.path("M322 186 Q340 240 322 292 Q300 292 296 240 Q298 188 322 186 Z", "dark")
    pen.path("M78 186 Q60 240 78 292 Q100 292 104 240 Q102 188 78 186 Z", "dark")
    pen.line("M140 188 V292 M260 188 V292", "ink", 9)
    pen.line("M112 198 H290", "light", 4)


def headlamp(pen: Pen) -> None:
    """Draw a lamp on its headband."""
    pen.path("M90 210 C84 116 316 116 310 210 L292 212 C286 150 114 150 108 212 Z", "dark")
    pen.path("M90 206 C96 300 304 300 310 206 L310 238 C296 330 104 330 90 238 Z", "main")
    pen.box(154, 236, 92, 70, 20, "ink")
    pen.oval(200, 270, 30, 28, "steel")
    pen.oval(200, 270, 22, 20, "glow")
    pen.oval(192, 262, 7, 6, "paper")
    pen.dashes("M112 252 Q126 276 148 286")


def camping_lantern(pen: Pen) -> None:
    """Draw a lantern with a handle and a warm light."""
    pen.halo(200, 206, 162)
    pen.line("M148 132 C148 70 252 70 252 132", "ink", 6)
    pen.path("M142 128 H258 L250 154 H150 Z", "main")
    pen.box(150, 154, 100, 106, 12, "glow")
    pen.line("M176 154 V260 M224 154 V260", "dark", 4, 0.6)
    pen.path("M138 260 H262 L270 312 Q200 322 130 312 Z", "main")
    pen.oval(200, 286, 12, 10, "light")


def solar_lantern(pen: Pen) -> None:
    """Draw a folding lantern with a panel on top."""
    pen.halo(200, 214, 158)
    pen.line("M150 144 C160 84 240 84 250 144", "ink", 4)
    pen.oval(200, 146, 72, 18, "ink")
    for y in (164, 196, 228, 260):
        pen.path(f"M130 {y} Q200 {y + 14} 270 {y} L262 {y + 18} Q200 {y + 30} 138 {y + 18} Z", "light")
        pen.path(
            f"M138 {y + 18} Q200 {y + 30} 262 {y + 18} L270 {y + 32} Q200 {y + 46} 130 {y + 32} Z", "glow"
        )
    pen.path("M130 294 Q200 310 270 294 V306 Q200 324 130 306 Z", "main")


def storm_lantern(pen: Pen) -> None:
    """Draw an oil lantern with a glass."""
    pen.halo(200, 200, 125)
    pen.line("M144 150 C120 60 280 60 256 150", "ink", 4)
    pen.line("M148 136 C128 180 128 230 148 268 M252 136 C272 180 272 230 252 268", "dark", 9)
    pen.path("M166 104 H234 L244 136 H156 Z", "main")
    pen.path("M164 136 H236 C252 176 248 214 230 244 H170 C152 214 148 176 164 136 Z", "glass")
    pen.path("M200 176 C216 200 214 226 200 230 C186 226 184 200 200 176 Z", "glow")
    pen.path("M140 250 H260 L272 306 Q200 322 128 306 Z", "main")
