"""Model names: what a maker calls one product. A name is given once per brand, so no title comes twice."""

from __future__ import annotations

_LAND = """
Alder Arden Ashlar Barrow Beacon Beck Birk Bluff Bothy Brae Brink Burn Cairn Carn Clough Coldwater
Combe Corrie Crag Croft Dale Delta Drift Drove Dune Eddy Esker Fallow Farrow Fell Fen Firth Flint
Ford Force Garth Ghyll Glade Glen Gorse Granite Grove Gull Hallow Harbour Hawse Headland Heath
Hollow Holm How Isle Karst Kelda Knoll Kyle Larch Ledge Linn Loch Lowen Marl Mere Mire Moor Moraine
Ness Nook Outpost Pass Pike Pine Quarry Raise Rake Rill Riven Roan Rowan Saddle Scarp Scree Shale
Shore Sike Skerry Slate Sound Spinney Spur Stack Strand Strath Summit Sward Tarn Thorn Tor Traverse
Trig Upland Vale Wold Yarrow Zenith
"""

_PEOPLE = """
Ada Agnes Alma Alva Anders Anouk Astrid Aurel Beate Bo Bram Carla Cato Cecil Clara Dagny Desmond
Dora Ebba Edda Edith Eino Elin Elio Ella Emil Enid Esther Etta Fenna Flora Frieda Gerda Greta Gustav
Hanne Hedda Helga Hugo Ida Ines Ingrid Iris Isak Ivo Jonas Josef Judith Juno Kaja Karin Kasper Klara
Lars Leif Lena Lida Linnea Liv Lotte Lucie Ludo Maj Malin Marta Matti Mila Mina Mona Nadia Nell Nils
Nora Odette Olga Olin Orla Oskar Otto Pauline Petra Pia Ragna Rasmus Rosa Runa Selma Signe Silja
Sofie Solveig Stella Sven Tekla Thea Thora Tilda Tove Ulla Una Vera Vida Viggo Wilma Ylva Yrsa
"""

_NATURE = """
Avocet Barley Bilberry Birch Bittern Bramble Briar Bryony Campion Catkin Cicely Clover Comfrey
Curlew Dabchick Damson Dipper Dogwood Dunnock Elder Fern Fieldfare Finch Flax Foxglove Garnet
Goldcrest Grebe Hawthorn Hazel Heron Holly Hornbeam Ivy Jackdaw Juniper Kestrel Lapwing Lark Linden
Linnet Lovage Mallow Martin Meadow Medlar Merle Mistle Moss Myrtle Nettle Nuthatch Oriole Osier
Ouzel Owl Partridge Petrel Pipit Plover Quill Quince Raven Redstart Reed Robin Rook Rosehip Rush
Sandpiper Sedge Siskin Skylark Sloe Snipe Sorrel Sparrow Starling Stonechat Swallow Swift Tansy Teal
Teasel Thistle Thrush Thyme Vetch Wagtail Warbler Whin Whitebeam Willow Wren
"""

NAMES = {
    "land": tuple(_LAND.split()),
    "people": tuple(_PEOPLE.split()),
    "nature": tuple(_NATURE.split()),
}
"""The lists: land and water for what goes outdoors, given names for a room, birds and plants for the rest."""
