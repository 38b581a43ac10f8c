"""What shoppers say to a shop without a model, turn by turn, and what has to be true of each answer.

A line is a sentence and, after the bar, its promises; `tests/worker/test_converse_shoppers.py` says what each
of them means.
"""

from __future__ import annotations

SAMPLE_STORE = """
Hi, I'm looking for a tent        | category=Tents
Something more affordable?        | category=Tents cheaper
the second one                    | pick=2
how much is it?                   | pick=2 says=EUR
is it waterproof?                 | pick=2 says=waterproof
do you have it in green?          | category=Tents colour=green
go back                           | category=Tents cheaper=1
what about for 4 people           | category=Tents persons=4
no more than 200                  | category=Tents persons=4 price=..200
compare the first two             | says=differ count=2
which one is cheaper?             | count=1 cheapest=2
forget the price                  | category=Tents persons=4
rain jackets                      | category=Rain_Jackets
back to the tents                 | category=Tents
start over                        | asks

trail running shoes for women     | category=Trail_Shoes
size 40                           | size=EU_40
IN BLUE                           | size=EU_40 colour=blue
actually not blue                 | size=EU_40 notcolour=blue
any other colour?                 | size=EU_40 notcolour=blue
never mind the colour             | size=EU_40
around 120                        | size=EU_40 price=96..144
too pricey                        | size=EU_40 cheaper
lower budget                      | none
I can spend 150                   | size=EU_40 price=..150
show me more                      | new-or-none
the last one                      | count=1
is it in stock?                   | count=1 says=in_stock|sold_out

I need a rug for the living room  | category=Rugs
larger                            | category=Rugs larger
not wool                          | no=wool
nothing synthetic                 | no=wool no=polyester no=nylon
the red one                       | none
between 100 and 300               | price=100..300 no=wool no=polyester
drop the last filter              | no=wool no=polyester
the cheapest of these             | cheapest
similar to the second             | category=Rugs no=wool
Larger please!                    | none
anything else?                    | new-or-none category=Rugs

raine jakets                      | category=Rain_Jackets
cheeper                           | category=Rain_Jackets cheaper
in bleu                           | colour=blue
not blakc                         | colour=blue notcolour=black
undo                              | colour=blue
new serch                         | asks
hiking boots                      | category=Hiking_Boots
SECND ONE                         | pick=2
mor like that                     | category=Hiking_Boots fresh
wihtout lether                    | no=leather no=suede no=nubuck
undr 200                          | price=..199.99 no=leather
compar the first and second       | count=2 says=differ

headlamps                         | category=Headlamps
nothing over 60                   | price=..60
not over 40                       | price=..40
no, 80                            | price=..80
actually, over 50                 | price=50.01..80
I changed my mind, under 30       | price=..29.99
that first headlamp               | pick=1
how heavy is it                   | pick=1 says=weight
mugs in white and under 20        | colour=white price=..19.99
also in blue                      | colour=white,blue
only white                        | colour=white
any brand but Mugwyn              | colour=white nobrand=Mugwyn
never mind the brand              | colour=white
sort by price                     | colour=white sorted

I'd like a sleeping bag           | category=Sleeping_Bags
not over 200                      | price=..200
no down                           | price=..200 nomaterial=down
the second                        | pick=2
what is it made of?               | pick=2 says=made_of
what colours does it come in?     | pick=2 says=comes_in
who makes it?                     | pick=2 says=made_by
how long is the warranty?         | pick=2 says=warranty
anything similar?                 | category=Sleeping_Bags fresh price=..200
the dearest                       | dearest
that's too expensive              | cheaper
how much do they cost?            | says=They_cost
I don't want to spend more than 120 | price=..120
remove the first one              | fresh=1
which one do you recommend?       | rated

Base layers for men               | category=Base_Layers
merino                            | material=merino
size M please                     | size=M
one size up                       | larger
in grey or blue                   | colour=grey,blue material=merino
not grey                          | colour=blue material=merino
undo                              | colour=grey,blue
the blue one                      | count=1 colour=blue
what about gloves?                | category=Hats_&_Gloves
only in stock                     | stock category=Hats_&_Gloves
under 30                          | stock price=..29.99
back to the base layers           | category=Base_Layers material=merino
drop the size                     | category=Base_Layers material=merino
any colour is fine                | category=Base_Layers material=merino
most expensive first              | category=Base_Layers sorted=down

rain jackets, under 150, not black | category=Rain_Jackets price=..149.99 notcolour=black
blue and in size M                | colour=blue size=M price=..149.99
from Peatmoor, but in stock       | colour=blue size=M brand=Peatmoor stock
green or red, no more than 100    | colour=green,red size=M price=..100
not the first one                 | fresh=1 colour=green,red size=M
another brand                     | colour=green,red nobrand=Peatmoor
none of these                     | new-or-none
any brand, any colour             | category=Rain_Jackets size=M price=..100
for my wife                       | gender=women,unisex
the last one in size XL           | size=XL
what's in stock                   | stock

Rugs. Not red, not wool, under 200. | category=Rugs no=wool notcolour=red price=..199.99
in jute                           | material=jute price=..199.99
go back                           | category=Rugs no=wool notcolour=red price=..199.99
twenty to sixty euros             | price=20..60
in the range of 50 to 150         | price=50..150
the first or the second?          | count=2
which is cheaper                  | cheapest=2
tell me more                      | count=1
same material but under 180       | price=..179.99
forget everything, I need socks   | category=Hiking_Socks

show me your cheapest tents       | category=Tents sorted
for 3 persons                     | persons=3
ok the first                      | pick=1
does it have wheels?              | pick=1 says=nothing
compare it with the second        | count=2 says=costs
in another colour                 | persons=3
something in the same price range | persons=3
show me the previous ones         | persons=3
cancel that                       | persons=3
stoves                            | category=Stoves

Show me some water bottles        | category=Bottles_&_Flasks
Less than 40 please               | category=Bottles_&_Flasks price=..39.99
what about stainless steel        | category=Bottles_&_Flasks material=steel price=..39.99
no plastic                        | material=steel no=plastic
how big is it?                    | asks
the first                         | pick=1
how big is it?                    | pick=1 says=capacity
okay, show me another             | category=Bottles_&_Flasks
I'd rather have a blue one        | colour=blue material=steel
the most expensive                | dearest
never mind, forget the colour     | material=steel price=..39.99
which one has the best reviews?   | rated

waterproof jackets                | category=Rain_Jackets
black or grey                     | colour=black,grey
no black                          | colour=grey
under 120                         | colour=grey price=..119.99
not polyester                     | none
something in pink                 | none
any material, any colour          | price=..119.99
how many do you have?             | asks
go back to the beginning          | asks
"""

RETAIL = """
I want to buy a guitar            | style=strings
under 500                         | price=..499.99
the most expensive one            | dearest
more like this one                | fresh price=..499.99
and what about a violin?          | style=strings
cheapest first                    | sorted
go back to the guitars            | price=..499.99
price doesn't matter              | style=strings
over 300 but not over 600         | price=300.01..600
the third                         | pick=3
thank you                         | asks
actually show me headphones       | style=headphones
wireless ones                     | style=headphones
Something Cheaper, Please!!       | cheaper style=headphones

chairs                            | style=chairs
wooden ones                       | text=wood
not wood                          | no=wood no=oak
between $50 and $150              | price=50..150 no=wood
the last one                      | pick=-1
how much does it cost             | says=USD
any others in brown?              | text=brown no=wood
drop the brown                    | no=wood price=50..150
drop the velvet                   | asks
not black or white                | no=black no=white no=wood
no more than 140                  | price=50..140 no=wood no=black
start from scratch                | asks

handbags                          |
red or burgundy                   | text=red|burgundy
not leather                       | text=red|burgundy no=leather
the second bag                    | asks
any other colour                  | no=red no=burgundy no=leather
less than 100 bucks               | price=..99.99 no=red no=leather
number 2 please                   | pick=2
how about backpacks               | style=backpack
for school                        | style=backpack
nothing above 70                  | style=backpack price=..70
similar to the last one but cheaper | style=backpack cheaper=last
80                                | price=..80

gren sofa                         | text=green style=sofas
not gren                          | no=green style=sofas
expensiv ones                     | dearer
a bit less pricey                 | cheaper
the cheapest                      | cheapest
I don't like any of these         | new-or-none

earrings                          | style=earrings
not silver, gold                  | no=silver text=gold
the 2nd                           | pick=2
do you have something similar     | fresh no=silver
NOT GOLD                          | no=silver no=gold
nothing under 30                  | price=30..
up to 60 please                   | price=30..60
back                              | price=30.. no=gold
undo                              | no=gold
max 100                           | price=..100
"""

ELECTRONICS = """
I'm looking for a keyboard        | category=keyboard
Logitech                          | category=keyboard brand=Logitech
not black                         | brand=Logitech nocolor=Black
never mind the colour             | brand=Logitech
the dearest                       | dearest brand=Logitech
a bit cheaper                     | brand=Logitech cheaper
any brand, under 30 euro          | category=keyboard price=..29.99
from someone else than Logitech   | category=keyboard nobrand=Logitech
the second one                    | pick=2
what does it cost?                | pick=2 says=EUR
who makes it                      | pick=2 says=made_by
same brand                        | category=keyboard
go back                           | category=keyboard
what about mice                   | category=mouse
Less Than 20                      | category=mouse price=..19.99
compare the first three           | count=3 says=costs
back to the keyboards             | category=keyboard
start over                        | asks

headphones                        | category=headphones
in white                          | color=White
also in black                     | color=White|Black
more expensive                    | dearer color=White|Black
show me more                      | new-or-none
not Sony or Philips               | nobrand=Sony nobrand=Philips
between 20 & 60                   | price=20..60 nobrand=Sony
the cheapest                      | cheapest
something similar                 | category=headphones fresh
undo                              | category=headphones price=20..60
forget the price                  | nobrand=Sony color=White|Black
drop the black                    | color=White
HP notebook under 400             | brand=HP price=..399.99
"""
