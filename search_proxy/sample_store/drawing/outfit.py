"""Boots, shoes, jackets and what else is worn outdoors."""

from __future__ import annotations

from search_proxy.sample_store.drawing.pen import Pen


def boot(pen: Pen) -> None:
    """Draw an ankle boot from the side."""
    top = pen.vary(92, 122)
    pen.path(f"M112 {top} Q150 {top - 12} 196 {top} L202 176 C240 206 306 208 322 250 V280 H104 Z", "main")
    pen.path("M232 204 C276 214 314 220 322 250 V280 H246 C252 254 246 226 232 204 Z", "dark")
    pen.path(f"M112 {top} L104 280 H144 C132 220 134 160 138 {top - 6} Z", "dark", 0.6)
    pen.path(
        "M98 278 H326 Q334 292 326 306 L310 306 L304 314 H284 L278 306 H150 L144 314 H112 Q96 306 98 278 Z",
        "ink",
    )
    pen.path("M98 274 H326 V286 H98 Z", "sole")
    for step in range(5):
        x, y = 182 + step * 13, 138 + step * 16
        pen.line(f"M{x - 16} {y} L{x + 14} {y - 8}", "paper", 4)
    pen.line(f"M150 {top + 14} H194", "light", 5, 0.6)


def shoe(pen: Pen) -> None:
    """Draw a low shoe from the side."""
    pen.path("M82 196 Q120 184 152 196 C176 226 262 232 322 262 Q336 272 334 288 H78 Z", "main")
    pen.path("M262 234 C296 246 332 258 334 288 H262 C270 268 268 250 262 234 Z", "dark")
    pen.path("M82 196 Q74 250 78 288 H124 C112 254 114 222 118 192 Z", "dark", 0.7)
    pen.path("M70 282 H338 Q350 300 332 308 H92 Q68 306 70 282 Z", "sole")
    pen.path("M74 300 H336 Q336 314 322 314 H96 Q76 314 74 300 Z", "ink")
    for step in range(4):
        x, y = 178 + step * 20, 226 + step * 5
        pen.line(f"M{x} {y + 16} L{x + 16} {y - 6}", "paper", 4)
    pen.path("M128 270 Q176 244 250 272 Q180 262 128 284 Z", "light", 0.8)


def sandal(pen: Pen) -> None:
    """Draw an open shoe with straps."""
    pen.path("M64 276 Q140 252 220 266 Q310 258 340 276 Q346 306 320 308 H88 Q60 306 64 276 Z", "sole")
    pen.path("M66 294 Q200 282 340 294 Q338 316 318 316 H92 Q66 314 66 294 Z", "ink")
    pen.line("M92 272 C96 206 150 190 178 218", "main", 18)
    pen.line("M178 270 C172 220 230 200 252 264", "main", 18)
    pen.line("M240 268 C240 226 300 218 316 268", "main", 18)
    pen.line("M150 206 L206 232", "dark", 12)
    pen.box(166, 206, 18, 14, 3, "steel")


def _body(pen: Pen, bottom: float, paint: str = "main") -> None:
    pen.path(f"M150 112 Q200 132 250 112 L282 130 V{bottom} Q200 {bottom + 12} 118 {bottom} V130 Z", paint)


def _sleeves(pen: Pen, end: float) -> None:
    pen.path(f"M118 130 Q92 150 84 {end - 30} L78 {end} L110 {end + 6} L124 190 Z", "dark")
    pen.path(f"M282 130 Q308 150 316 {end - 30} L322 {end} L290 {end + 6} L276 190 Z", "dark")


def shell(pen: Pen) -> None:
    """Draw a rain jacket with its hood up."""
    _sleeves(pen, 266)
    _body(pen, 296)
    pen.path("M150 114 C148 64 252 64 250 114 Q226 138 200 140 Q174 138 150 114 Z", "dark")
    pen.path("M166 112 C168 84 232 84 234 112 Q216 130 200 130 Q184 130 166 112 Z", "deep")
    pen.line("M200 140 V302", "light", 5)
    pen.line("M138 236 L166 214 M262 236 L234 214", "light", 4)
    pen.line("M126 288 Q200 300 274 288", "deep", 3, 0.5)


def coat(pen: Pen) -> None:
    """Draw a long coat with snaps."""
    _sleeves(pen, 256)
    pen.path("M150 108 Q200 126 250 108 L280 126 L296 326 Q200 340 104 326 L120 126 Z", "main")
    pen.path("M150 108 L186 92 H214 L250 108 L222 146 L200 122 L178 146 Z", "dark")
    pen.line("M212 134 L218 332", "deep", 3, 0.6)
    for y in (166, 206, 246, 286):
        pen.oval(202, y, 5, 5, "paper")
    pen.box(132, 226, 40, 14, 4, "dark")
    pen.box(232, 226, 40, 14, 4, "dark")


def puffer(pen: Pen) -> None:
    """Draw a quilted jacket."""
    _sleeves(pen, 268)
    _body(pen, 300)
    pen.path("M158 108 Q156 82 200 80 Q244 82 242 108 Q220 128 200 128 Q180 128 158 108 Z", "dark")
    for y in (150, 180, 210, 240, 270):
        pen.line(f"M120 {y} Q160 {y + 12} 198 {y + 2} Q240 {y + 12} 280 {y}", "dark", 4, 0.75)
    for y in (176, 206, 236):
        pen.line(f"M90 {y + 14} L120 {y + 20} M310 {y + 14} L280 {y + 20}", "deep", 3, 0.5)
    pen.line("M200 126 V306", "light", 5)


def parka(pen: Pen) -> None:
    """Draw a long winter coat with a deep hood."""
    _sleeves(pen, 266)
    pen.path("M146 116 Q200 138 254 116 L284 132 L290 322 Q200 336 110 322 L116 132 Z", "main")
    pen.path("M142 118 C136 56 264 56 258 118 Q230 146 200 148 Q170 146 142 118 Z", "dark")
    pen.path("M160 114 C160 78 240 78 240 114 Q218 134 200 134 Q182 134 160 114 Z", "deep")
    pen.box(190, 146, 20, 184, 6, "dark")
    pen.path("M128 236 H174 V280 Q150 288 128 280 Z M226 236 H272 V280 Q250 288 226 280 Z", "dark")
    pen.line("M128 246 H174 M226 246 H272", "light", 3, 0.7)


def fleece(pen: Pen) -> None:
    """Draw a soft jacket with a chest pocket."""
    _sleeves(pen, 268)
    _body(pen, 298)
    pen.path("M160 112 V84 Q200 74 240 84 V112 Q200 136 160 112 Z", "dark")
    pen.line("M200 92 V304", "light", 4)
    pen.path("M220 162 H258 V202 H220 Z", "dark", 0.8)
    pen.line("M222 168 H256", "light", 3)
    pen.path("M118 284 Q200 298 282 284 V298 Q200 312 118 298 Z", "dark")


def vest(pen: Pen) -> None:
    """Draw a sleeveless quilted jacket."""
    pen.path(
        "M152 108 Q200 128 248 108 L268 120 Q256 160 280 190 V302 Q200 314 120 302 V190 Q144 160 132 120 Z"
    )
    pen.path("M160 106 Q158 82 200 80 Q242 82 240 106 Q220 126 200 126 Q180 126 160 106 Z", "dark")
    for y in (158, 192, 226, 260):
        pen.line(f"M136 {y} Q168 {y + 10} 198 {y + 2} Q236 {y + 10} 264 {y}", "dark", 4, 0.7)
    pen.line("M200 124 V308", "light", 5)


def long_sleeve(pen: Pen) -> None:
    """Draw a close-fitting shirt with long sleeves."""
    _sleeves(pen, 272)
    _body(pen, 292)
    pen.path("M160 110 V92 Q200 82 240 92 V110 Q200 132 160 110 Z", "dark")
    pen.line("M200 96 V164", "light", 4)
    pen.line("M124 196 Q140 160 132 132 M276 196 Q260 160 268 132", "deep", 3, 0.4)


def tshirt(pen: Pen) -> None:
    """Draw a T-shirt."""
    pen.path(
        "M150 104 Q200 134 250 104 L324 146 L298 200 L276 186 V302 Q200 312 124 302 V186 L102 200 L76 146 Z"
    )
    pen.path("M150 104 Q200 134 250 104 L240 98 Q200 120 160 98 Z", "dark")
    pen.path("M276 186 V302 Q252 306 232 308 Q256 250 252 170 Z", "dark", 0.35)
    pen.dashes("M112 190 L90 148 M288 190 L310 148")


def leggings(pen: Pen) -> None:
    """Draw long underwear."""
    pen.path("M142 84 H258 L274 200 L262 322 H220 L204 190 H196 L180 322 H138 L126 200 Z", "main")
    pen.path("M142 84 H258 L260 108 H140 Z", "dark")
    pen.path("M258 108 L274 200 L262 322 H242 Q256 210 240 108 Z", "dark", 0.5)
    pen.line("M200 108 V190", "deep", 3, 0.5)


def beanie(pen: Pen) -> None:
    """Draw a knitted hat with a turned-up edge."""
    pen.path("M104 236 C100 120 156 84 200 84 C244 84 300 120 296 236 Z", "main")
    for x in (136, 168, 200, 232, 264):
        pen.line(f"M{x} 232 Q{200 + (x - 200) * 0.7:g} 140 200 90", "dark", 3, 0.55)
    pen.box(96, 224, 208, 62, 18, "dark")
    for x in range(116, 300, 18):
        pen.line(f"M{x} 232 V278", "light", 2, 0.35)
    if pen.dice.chance(0.5):
        pen.oval(200, 84, 26, 24, "light")


def glove(pen: Pen) -> None:
    """Draw a glove."""
    pen.path("M150 318 V212 Q136 196 124 166 Q118 144 134 142 Q148 "
    "142 158 178 L156 106 Q158 90 172 90 Q186 90 188 106 "
             "L192 92 Q196 78 208 80 Q222 82 222 98 L224 110 Q230 98 "
             "242 102 Q254 106 254 120 L256 148 Q262 138 272 142 "
             "Q282 146 280 162 L272 228 Q268 252 252 268 V318 Z", "main")  # fmt: skip
    pen.line("M190 110 V186 M222 112 V188 M254 146 V194", "dark", 3, 0.6)
    pen.path("M146 268 H256 V322 Q200 332 146 322 Z", "dark")
    pen.line("M150 284 H252", "light", 3, 0.6)


def sun_hat(pen: Pen) -> None:
    """Draw a hat with a wide brim."""
    pen.oval(200, 252, 150, 44, "dark")
    pen.oval(200, 244, 150, 42, "main")
    pen.path("M122 244 C120 150 160 124 200 124 C240 124 280 150 278 244 Q200 272 122 244 Z", "main")
    pen.path("M122 228 Q200 258 278 228 V246 Q200 274 122 246 Z", "deep")
    pen.path("M240 140 C276 160 280 200 278 232 Q260 240 244 242 Q252 190 240 140 Z", "dark", 0.5)


def neck_warmer(pen: Pen) -> None:
    """Draw a tube of cloth."""
    pen.path("M112 130 Q200 96 288 130 L300 286 Q200 322 100 286 Z", "main")
    pen.oval(200, 132, 88, 26, "deep")
    for y in (180, 216, 252):
        pen.line(f"M106 {y} Q200 {y + 34} 294 {y}", "dark", 4, 0.45)


def sock(pen: Pen) -> None:
    """Draw a sock with its heel and toe in another tone."""
    top = pen.vary(72, 128)
    pen.path(
        f"M146 {top} H228 V212 C232 238 300 248 306 288 Q306 318 272 318 H206 Q158 316 150 252 Z", "main"
    )
    pen.path(f"M146 {top} H228 V{top + 34} H146 Z", "dark")
    pen.path("M264 256 Q300 262 306 288 Q306 318 272 318 H262 Q280 286 264 256 Z", "dark")
    pen.path("M149 236 Q184 234 188 276 Q176 292 164 288 Q152 270 149 236 Z", "dark")
    for x in (160, 174, 188, 202, 216):
        pen.line(f"M{x} {top + 4} V{top + 30}", "light", 2, 0.5)
