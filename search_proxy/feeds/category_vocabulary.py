"""Words of product titles that never name what the product is."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """Return the words of a list that is written as text."""
    return frozenset(text.split())


COLOURS = word_set(
    """amber anthracite aqua aquamarine azure beige black blue bone brass bronze brown burgundy camel
    champagne charcoal chocolate chrome clear cobalt colour color colours colors copper coral cream
    crimson cyan ecru emerald fuchsia gold golden gray green grey indigo ivory khaki lavender lilac lime
    magenta maroon mauve mint multicolor multicolour multicoloured multicolored mustard natural navy
    ochre olive orange peach pink plum purple red rose ruby rust sage salmon sand sapphire scarlet
    silver tan taupe teal terracotta transparent turquoise violet white yellow"""
)
"""Colour names; a title ends with one more often than with its noun."""

SIZES = word_set(
    """xs xxs small medium large xl xxl xxxl mini compact big long short wide narrow tall slim extra jumbo
    king queen twin full single double triple"""
)

UNITS = word_set(
    """mm cm km ft feet foot inch inches mb gb tb kb mhz ghz khz hz kg lb lbs oz ml cl litre litres liter
    liters watt watts volt volts va kva mah amp amps dpi ppm rpm pc pcs piece pieces sheets sheet pages
    page qty pixels bit bits gbit mbit pack pk count ea day days year years month months gsm lumen
    lumens degrees"""
)

PREPOSITIONS = word_set(
    """for with without w in on by from to compatible fits at per via including includes featuring für mit
    pour avec"""
)
"""What follows only qualifies: "bag for notebooks" is a bag."""

JOINERS = word_set("""and or the a an of & + und et de le la""")

DESCRIPTORS = word_set(
    """original genuine new refurbished standard premium deluxe professional pro plus basic classic
    black-and-white high low hi-speed super ultra max lite advanced series version edition model type
    style various assorted indoor internal external value extended limited universal portable wireless
    wired cordless digital electric electronic gloss glossy matte matt satin semi dual duplex shielded
    unshielded male female smart home free best box retail bulk high-capacity capacity yield high-yield
    up down dark pale bright deep internal vintage modern rustic elegant elegance cozy chic stylish
    sleek timeless handcrafted bold vibrant colorful"""
)
"""Adjectives and packaging words that stand where a head would."""

CONTAINERS = word_set(
    """set sets kit kits pack packs bundle bundles collection collections duo trio assortment ensemble
    companion unit units accessory accessories delight essentials suite medley package setup combo
    selection series pair system systems"""
)
"""Words that say how things are sold: "tea bowl set" is about bowls unless the compound itself is common."""

MATERIALS = word_set(
    """leather cotton wool woollen linen canvas denim suede velvet silk satin polyester nylon wood wooden
    oak walnut teak bamboo rattan wicker metal metallic steel stainless aluminium aluminum iron ceramic
    porcelain glass crystal plastic rubber silicone paper marble stone concrete fleece down merino
    cashmere vinyl acrylic faux"""
)
"""What a thing is made of; it may be an attribute but makes no category of its own."""

NEVER_HEADS = word_set(
    """usb ps hd dvd cd wi-fi wifi lan ethernet gigabit bluetooth core intel windows android optical laser
    inkjet rf qwerty qwertz azerty english german french spanish italian unmanaged managed stereo hdmi
    vga dvi displayport sata pci express alkaline lithium screen-printed people men women kids adults
    boys girls precision experience back one two three gen generation service class house total port
    point station over next business retro boho farm-fresh zesty decadent charm glow touch dream dreams"""
)
"""Standards, languages, audiences and moods: they qualify a thing and never are it."""
