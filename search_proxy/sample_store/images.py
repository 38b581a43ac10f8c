"""Draws the picture of a product of the sample store, on the fly, as an SVG of about two kilobytes.

The shape follows the sort of thing, the tint its colour, and small differences its parent's id, so that the
variants of a product look alike. No script, no style, no reference to anything outside; text is escaped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from xml.sax.saxutils import escape

from search_proxy.sample_store.colors import COLORS
from search_proxy.sample_store.dice import Dice
from search_proxy.sample_store.drawing import camp, house, kitchen, outfit, room
from search_proxy.sample_store.drawing.pen import Pen, brightness, mix

_SHAPES: dict[str, Callable[[Pen], None]] = {
    "Trekking Tent": camp.ridge_tent,
    "Ultralight Tent": camp.ridge_tent,
    "Dome Tent": camp.dome_tent,
    "Pop-Up Tent": camp.dome_tent,
    "Family Tunnel Tent": camp.tunnel_tent,
    "Winter Tent": camp.geodesic_tent,
    "Tarp": camp.tarp,
    "Beach Shelter": camp.beach_shelter,
    "Shade Sail": camp.shade_sail,
    "Mummy Sleeping Bag": camp.mummy_bag,
    "Kids' Sleeping Bag": camp.mummy_bag,
    "Blanket Sleeping Bag": camp.blanket_bag,
    "Air Mat": camp.air_mat,
    "Self-Inflating Mat": camp.air_mat,
    "Foam Mat": camp.foam_mat,
    "Daypack": camp.daypack,
    "Trekking Pack": camp.trekking_pack,
    "Ultralight Pack": camp.roll_pack,
    "Duffel Bag": camp.duffel,
    "Headlamp": camp.headlamp,
    "Running Headlamp": camp.headlamp,
    "Kids' Headlamp": camp.headlamp,
    "Camping Lantern": camp.camping_lantern,
    "Solar Lantern": camp.solar_lantern,
    "Storm Lantern": camp.storm_lantern,
    "Mid Hiking Boots": outfit.boot,
    "Trekking Boots": outfit.boot,
    "Winter Boots": outfit.boot,
    "Trail Running Shoes": outfit.shoe,
    "Low Hiking Shoes": outfit.shoe,
    "Walking Sandals": outfit.sandal,
    "Hardshell Jacket": outfit.shell,
    "Packable Rain Jacket": outfit.shell,
    "Rain Coat": outfit.coat,
    "Puffer Jacket": outfit.puffer,
    "Winter Parka": outfit.parka,
    "Fleece Jacket": outfit.fleece,
    "Insulated Vest": outfit.vest,
    "Long-Sleeve Base Layer": outfit.long_sleeve,
    "T-Shirt": outfit.tshirt,
    "Leggings": outfit.leggings,
    "Beanie": outfit.beanie,
    "Gloves": outfit.glove,
    "Gardening Gloves": outfit.glove,
    "Sun Hat": outfit.sun_hat,
    "Neck Warmer": outfit.neck_warmer,
    "Hiking Socks": outfit.sock,
    "Gas Stove": kitchen.gas_stove,
    "Wood Stove": kitchen.wood_stove,
    "Two-Burner Stove": kitchen.two_burner,
    "Fire Bowl": kitchen.fire_bowl,
    "Pot Set": kitchen.pot_set,
    "Kettle": kitchen.kettle,
    "Dutch Oven": kitchen.dutch_oven,
    "Camp Mug": kitchen.mug,
    "Mug": kitchen.mug,
    "Espresso Cups, Set of 4": kitchen.cups,
    "Tea Bowls, Set of 2": kitchen.bowls,
    "Camp Cutlery Set": kitchen.camp_cutlery,
    "Cutlery Set": kitchen.cutlery_set,
    "Chef's Knife": kitchen.knife,
    "Bread Knife": kitchen.knife,
    "Steak Knives": kitchen.steak_knives,
    "Frying Pan": kitchen.pan,
    "Casserole": kitchen.casserole,
    "Saucepan": kitchen.saucepan,
    "Roasting Tin": kitchen.roasting_tin,
    "Vacuum Flask": kitchen.flask,
    "Water Bottle": kitchen.bottle,
    "Travel Mug": kitchen.tumbler,
    "Hard Cooler": kitchen.hard_cooler,
    "Cool Bag": kitchen.cool_bag,
    "Cooler Backpack": kitchen.cooler_pack,
    "Camping Chair": room.camp_chair,
    "Packable Stool": room.stool,
    "Folding Table": room.folding_table,
    "Hammock": room.hammock,
    "Camp Bed": room.camp_bed,
    "Duvet Cover Set": room.duvet_set,
    "Fitted Sheet": room.fitted_sheet,
    "Duvet": room.duvet,
    "Pillow": room.pillow,
    "Throw": room.throw,
    "Blanket": room.throw,
    "Picnic Blanket": room.picnic,
    "Flatweave Rug": room.striped_rug,
    "Outdoor Rug": room.striped_rug,
    "Hand-Tufted Rug": room.field_rug,
    "Runner": room.runner,
    "Cushion": room.cushion,
    "Bolster Cushion": room.bolster,
    "Garden Cushion": room.seat_cushion,
    "Bath Towel": room.towel,
    "Kitchen Towels, Set of 2": room.towel,
    "Beach Towel": room.beach_towel,
    "Travel Towel": room.travel_towel,
    "Table Lamp": house.table_lamp,
    "Desk Lamp": house.desk_lamp,
    "Portable Lamp": house.portable_lamp,
    "Scented Candle": house.jar_candle,
    "Pillar Candle": house.pillar_candle,
    "Dinner Candles, Set of 6": house.dinner_candles,
    "Basket": house.basket,
    "Storage Box": house.storage_box,
    "Wall Shelf": house.wall_shelf,
    "Pantry Jars, Set of 3": house.jars,
    "Hand Trowel": house.trowel,
    "Secateurs": house.secateurs,
    "Garden Spade": house.spade,
    "Garden Fork": house.fork,
    "Watering Can": house.watering_can,
    "Plant Pot": house.plant_pot,
    "Window Box": house.window_box,
    "Raised Bed": house.raised_bed,
    "Hanging Planter": house.hanging_planter,
}


def draw(document: Mapping[str, Any]) -> str:
    """Return the picture of a document as SVG; a sort of thing without a shape is drawn as a box."""
    color = COLORS.get(str(document.get("color", "")), COLORS["natural"]).hex
    pen = Pen(color, Dice(f"picture-{document.get('parentProductId', '')}"))
    _SHAPES.get(str(document.get("productType", "")), house.storage_box)(pen)
    # A pale thing needs a darker wall behind it, or it would not be seen.
    wall = mix(color, "#f3f0e9", 0.86) if brightness(color) < 0.72 else mix(color, "#c9c2b4", 0.72)
    title = escape(str(document.get("productTitle", "")))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400" role="img">'
        f"<title>{title}</title>"
        f'<rect width="400" height="400" fill="{wall}"/>'
        f'<rect y="286" width="400" height="114" fill="{mix(wall, "#3a3530", 0.07)}"/>'
        f'<ellipse cx="200" cy="312" rx="140" ry="13" fill="{mix(wall, "#2a2622", 0.28)}" opacity="0.7"/>'
        f"{pen.markup()}</svg>"
    )


def shape_names() -> tuple[str, ...]:
    """Return every sort of thing that has a shape of its own."""
    return tuple(_SHAPES)
