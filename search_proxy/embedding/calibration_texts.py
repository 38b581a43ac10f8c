"""Texts that show what values a model's layers take: products and queries of many shops, long, short and odd.

The int8 model keeps the ranges that were seen here, so what is rare in shops but real stands here too:
other scripts, codes, signs, one word again and again. None of them is among those that a build is held to.
"""

from __future__ import annotations

from collections.abc import Sequence

_LONG = (
    "Stand mixer with a steel bowl of five litres. Ten speeds, from slow folding to fast whipping, and "
    "a planetary movement that reaches every spot of the bowl. The set has a flat beater, a dough hook, "
    "a wire whisk and a splash guard with a spout; all of them go into the dishwasher. The head tilts "
    "back and locks. A meat grinder, a pasta roller, a grain mill and an ice cream maker fit the hub at "
    "the front and are sold apart. Metal gears, 300 W, a cord of 120 cm, rubber feet that hold on wet "
    "stone. Two years of warranty; spare parts for ten years. Colours: almond, red, black, pistachio, "
    "copper. Height 36 cm, width 24 cm, depth 37 cm, weight 11.3 kg."
)

CALIBRATION_TEXTS: Sequence[str] = (
    "",
    "a",
    "lamp",
    "tents",
    "blue dress",
    "macbook pro 14",
    "waterproof hiking boots women size 8",
    "something warm for a winter evening on the balcony",
    "XR-2000/BK-EU",
    "0045496882013",
    "1/2 in. x 10 ft. 600 PSI (4-pack)",
    "!!!!!!",
    "-" * 40,
    ". " * 80,
    "🎁🎁🎁 ⭐⭐⭐⭐⭐",
    "🚲 bike ride",
    "sale " * 60,
    "0 1 " * 50,
    "qwrtz plmkn vbxgh",
    "日本製 急須 有田焼",
    "Чайник электрический 1,7 л",
    "حقيبة جلد",
    "é à ü ñ ø ß ç",
    "Schreibtischlampe LED, dimmbar, schwarz",
    "canapé d'angle convertible gris\nTrois places, coffre de rangement, tissu lavable.",
    "zapatillas de correr para mujer\nSuela ligera, malla transpirable.",
    "<b>New!</b> Vase &amp; bowl<br/>Hand-made",
    "https://example.com/p?id=12&ref=mail",
    'Notebook 15.6" i7 16GB/512GB SSD W11P\nIntel Core i7-1255U, Full HD 1920x1080, Wi-Fi 6, Bluetooth 5.2.',
    "Laser printer A4 duplex\nMonochrome, 1200 x 1200 DPI, 40 ppm, Ethernet LAN, 250 sheets.",
    "HP toner cartridge 26X black high yield\nOriginal; prints about 9,000 pages.",
    "Network switch 24 port gigabit PoE+\nManaged, L2, rack mounting 1U, 370 W, 4 SFP slots.",
    "LC-Duplex SC-Duplex OM3 fibre optic cable 3 m aqua",
    "USB flash drive 128 GB\nUSB 3.2 Gen 1, 150 MB/s, cap-less, silver.",
    "Hooded sweatshirt, cotton, olive\nKangaroo pocket, ribbed cuffs, brushed inside. Wash at 40 degrees.",
    "Sterling silver ring with moonstone\nAdjustable; comes in a small linen bag.",
    "Oak dining table, extendable 160-240 cm\nSolid wood, oiled by hand, seats six to ten.",
    "Organic dark chocolate 85 %\nFair trade cocoa from Peru, 100 g. May contain traces of nuts.",
    "Face cream for dry skin SPF 30\nWith hyaluronic acid and shea butter, without perfume. 50 ml.",
    "Garden hose reel, 30 m, wall mounted\nRewinds by itself; swivels 180 degrees; frost-proof.",
    "Puzzle 1000 pieces: harbour at night\nFor ages 10 and up. Finished size 70 x 50 cm.",
    "Dog bed, washable, large\nOrthopaedic foam; cover with zip; feet that do not slip.",
    "Yoga mat 6 mm non slip purple",
    _LONG,
    "Mixeur sur socle 1,5 L\n" + "Lames en acier, bol en verre, trois vitesses et fonction glace pilée. " * 6,
    "Cordless drill 18 V\n"
    + "Two batteries of 4 Ah, charger, case, 40 bits. Torque 65 Nm, chuck 13 mm, LED. " * 8,
)
