"""Words that a shopper's sentence is made of but no product is: the planner drops or interprets them.

Greetings and requests come in the languages that shops hear most; everything else is English, because a
sentence in another language loses little by keeping its small words.
"""

from __future__ import annotations

import re

from worker.planning.catalog_words import word_set

FILLER = word_set(
    """a about actually all also am an and any anybody anyone anything are around as at be because been
    best brand browse but buy buying by can could do does decent don't didn't else every everything fairly few
    find first for from get getting give go going good got great had has have having he hello help her here
    hey hi him his how hunting i i'd i'll i'm i've id if im in into is it it's its just keep kind know
    let like look looking lovely make makes may maybe me might mine more most much my need needed needs
    new next nice now of off on one ones or our ours out over perfect perhaps please possibly prefer
    preferably pretty product products purchase put quality quite rather really recommend recommendation
    recommendations right search searching see sell selling shall she shop shopping should show so some
    somebody someone something somewhere sort stock store such suggest suggestion suggestions suitable
    sure take tell than thank thanks that that's the their them then there these they thing things this
    those to today too top try type under up us use used useful using very wanna want wanting wants was
    we we'd we'll we're week well what what's when where which while who whom will wish with within
    would you your yours idea ideas item items option options stuff available only gimme pls plz sth smth
    smthg um umm uhm hmm erm eh ehh dunno anywhere idk tbh lol btw whatever browsing gf bf
    hubby ppl cheers folks"""
)
"""Words without a product in them."""

VAGUE = word_set(
    """gift gifts present presents surprise bargain bargains deal deals offer offers sale discount
    discounts new latest popular trending bestseller bestsellers best-seller best-sellers cool awesome
    fun amazing interesting special different random inspiration nice good cheap expensive budget
    favourite favorite money price prices cost gadget gadgets"""
)
"""Words that alone are too vague to search for, but say something beside others."""

GIFT = word_set("""gift gifts present presents""")
_GIFT_COMPOUNDS = word_set("""card cards box boxes set sets wrap wrapping bag bags basket baskets tag tags""")

NEGATIONS = word_set(
    """not no without except excluding exclude minus avoid never isn't aren't nicht sans sin ohne"""
)
"""Words after which a value is unwanted."""

SURE_NEGATIONS = word_set("""not without except excluding exclude avoid isn't aren't sans ohne""")
"""Negations that hold for any word after them; "no" only for a known value ("no show socks" are socks)."""

QUALIFIERS = word_set("for with without in on to that which from under who by at when while of made like")
"""Words after which only more about the thing follows."""

VAGUE_QUALITIES = word_set(
    """expensive pricey cheap heavy big large small bulky long short loud bright thick thin dark
    complicated flashy fancy formal casual hot cold warm"""
)
"""What "not too ..." speaks of; no field can be filtered by it."""

COLOURS = word_set(
    """amber beige black blue bronze brown burgundy charcoal copper coral cream crimson cyan gold golden
    gray green grey indigo ivory khaki lavender lilac magenta maroon mint mustard navy olive orange
    peach pink plum purple red rose rust sage silver tan taupe teal terracotta turquoise violet white
    yellow"""
)

COLOUR_COMPOUNDS = word_set(
    """wine juice noise gold tea coffee rice bean beans friday pepper bouquet petals tree plant beard board
    boards toner ink print printing laser pages chocolate onion onions lentils peel zest oil"""
)
"""Words before which a colour belongs to the thing: "red wine", "rose gold", "white board"."""

_INFLECTED_COLOURS = {
    "black": "schwarz schwarze schwarzer schwarzes schwarzen noire noires noirs negro negra negros negras",
    "white": "weiss weisse weisser weisses weissen blanche blanches blancs blanco blanca blancos blancas",
    "red": "rote roter rotes roten rouges rojo roja rojos rojas",
    "blue": "blau blaue blauer blaues blauen bleue bleues bleus azul azules",
    "green": "grün grüne grüner grünes grünen verte vertes verts verde verdes",
    "yellow": "gelb gelbe gelber gelbes gelben jaune jaunes amarillo amarilla amarillos amarillas",
    "grey": "grau graue grauer graues grauen grise grises",
    "brown": "braun braune brauner braunes braunen marron marrons marrón marrones",
}
COLOURS_ABROAD = {
    "rot": "red",
    "rouge": "red",
    "noir": "black",
    "blanc": "white",
    "bleu": "blue",
    "vert": "green",
}
"""Colours only beside other words of their language: English has these words for other things."""
FOREIGN_COLOURS = {word: colour for colour, words in _INFLECTED_COLOURS.items() for word in words.split()}
"""Colours in German, French and Spanish, but for forms that English has too ("rot", "noir")."""

SPELLINGS = {"gray": "grey", "golden": "gold", "grey": "gray", "jewelry": "jewellery", "jewellery": "jewelry"}

CHEAPEST_FIRST = re.compile(r"\b(?:cheapest|least expensive|lowest[ -]priced?|price low to high)\b", re.I)
DEAREST_FIRST = re.compile(r"\b(?:most expensive|highest[ -]priced?|dearest|price high to low)\b", re.I)
BEST_RATED_FIRST = re.compile(r"\b(?:best|top|highest)[ -]rated\b", re.I)

IN_STOCK = re.compile(
    r"\b(?:(?:currently |still |left )?in[ -]stock|available (?:now|today|right now|immediately)|(?:is|are"
    r"|that's) available"
    r"|(?:can|could) (?:actually |really |still )?(?:buy|order|get|have) (?:right now|now|today|immediately)"
    r"|ready to ship|ships? (?:now|today)|auf lager|lieferbar|en stock|not (?:sold out|out of stock))\b",
    re.I,
)

_GREETING = (
    r"(?:hi+|hey+|hello+|hiya|howdy|yo|greetings|good (?:morning|afternoon|evening|day)|hallo|guten (?:tag"
    r"|morgen|abend)"
    r"|moin|servus|bonjour|bonsoir|salut|hola|buenos d[ií]as|buenas tardes|ciao|buongiorno|ol[aá]|hej|hoi"
    r"|namaste"
    r"|привет|здравствуйте|こんにちは|你好|안녕하세요|مرحبا)"
)
_ADDRESS = r"(?:there|all|everyone|folks|team|guys|(?:my )?friends?|mate|bot|aisle|again|you|assistant)"
GREETING = re.compile(
    rf"{_GREETING}(?:\s+{_GREETING})*(?:\s+{_ADDRESS})*"
    r"(?:\s+(?:how (?:are you|is it going|are things)(?: today| doing)*|[çc]a va|wie geht'?s|qu[ée] tal))?",
    re.I,
)

THANKS = re.compile(
    r"(?:ok(?:ay)?\s+|great\s+|perfect\s+|no\s+|cool\s+)*(?:thanks?|thank you|thx|ty|cheers"
    r"|much appreciated|danke(?: sch[öo]n)?"
    r"|vielen dank|merci(?: beaucoup)?|gracias|muchas gracias|grazie(?: mille)?|obrigad[oa]|bye|goodbye"
    r"|see you|tsch[üu]ss"
    r"|that'?s all|that is all|nothing else|never ?mind)"
    r"(?:\s+(?:you|so|very|much|a|lot|again|for|your|the|help|helping|me|that(?:'?s)?|all|bye|everything|was"
    r"|great|later|of|it|mate|pal|man|friend|guys|today|now|then|dir|euch|ihnen|das|war'?s|alles|f[üu]r|die"
    r"|hilfe|sch[öo]n|beaucoup|pour|votre|ton|aide|c'est|tout|por|todo|tu|su|ayuda|eso|es))*",
    re.I,
)

REMARK = re.compile(
    r"(?:(?:lol|lmao|ha(?:ha)+|wow|omg|ok|okay|nice|cool|great|well|man|so|and)\s+)*"
    r"(?:(?:you|u)(?:'?re| are| r)? (?:so |really |very |quite |pretty )*"
    r"(?:funny|hilarious|great|awesome|amazing|smart|clever|cute|nice|kind|sweet|stupid|dumb|useless|annoying"
    r"|helpful|rude|slow|fast|the best)"
    r"|i (?:love|like|hate) (?:you|u|this (?:bot|shop|site))|(?:good|bad) (?:bot|job)|well done|lol|lmao"
    r"|ha(?:ha)+|whatever|wow|(?:nice|good) one)",
    re.I,
)
"""Something said about us, and not about a product."""

FOREIGN_SMALL_WORDS = word_set(
    """zeig zeige zeigen zeigt mir uns mal einfach irgendwas irgendetwas etwas was ich wir weiss nicht keine
    kein ahnung suche suchen brauche brauchen möchte will hätte gern gerne bitte schönes neues gutes habt ihr
    haben sie denn für unter bis mit und oder der die das den dem ein eine einen einem einer kann auf von
    je nous ne sais pas quoi cherche cherchons veux voudrais acheter choisir prendre offrir montre montrez
    moi quelque chose choses un une le la les des du pour avec est-ce que qu'est-ce vous avez sans moins
    yo no sé se qué que comprar elegir quiero quisiera busco regalar muéstrame muestrame enséñame algo cosas
    todo el los las una unos unas para por con tienes tenéis tienen menos de"""
)
"""Words without a product in them, in German, French and Spanish."""

TELLS_LANGUAGE = FOREIGN_SMALL_WORDS - word_set(
    "was die den des dem de la le un no con se von auf moi tout tu pour kein las los el por que mit sans oder"
)
"""Those of them that no English sentence has, names and loans included."""

CAPABILITY = re.compile(
    r"(?:hi |hey |hello |so )?(?:what (?:can|could|do) you (?:do|offer|help)(?: (?:me|us|for|with|here"
    r"|about|me with|for me))*"
    r"|what can i (?:ask|do|say)(?: (?:you|here))*|how (?:do|does|can) (?:you|this|it|i) (?:work"
    r"|use (?:you|this)|search here)"
    r"|who are you|what are you|are you (?:a |an )?(?:bot|robot|human|ai|real|person|machine"
    r"|chatbot)(?: person)?"
    r"|what is this(?: (?:place|site|shop|store|page))?|can you help(?: me)?|help(?: me)?|what'?s your name"
    r"|wie (?:funktioniert|geht) (?:das|es)(?: hier)?|comment (?:[çc]a|cela) (?:marche|fonctionne)"
    r"|c[óo]mo funciona(?: esto| aqu[íi])?|was kannst du|que peux-tu faire|qu[eé] puedes hacer"
    r"|tell me (?:a joke|about yourself))",
    re.I,
)

SERVICE = re.compile(
    r"\b(?:where(?:'s| is) my (?:order|package|parcel|delivery|refund)|track (?:my )?(?:order|package|parcel)"
    r"|(?:return|refund|shipping|delivery|privacy|warranty|exchange) (?:policy|polic(?:y|ies)|costs?|time"
    r"|times|options|information)"
    r"|cancel my (?:order|subscription)|(?:speak|talk|chat) (?:to|with) (?:a |an |the |some)?(?:human"
    r"|agent|person|representative|someone|support)"
    r"|how (?:do|can) i (?:return|cancel|pay|track|contact|log ?in|reset)|my (?:account|password|invoice)"
    r"|opening hours"
    r"|wo (?:ist|bleibt) mein\w* (?:bestellung|paket|lieferung)|zur[üu]ckgeben|zur[üu]ckschicken|umtauschen"
    r"|versandkosten|lieferzeit|r[üu]cksendung|r[üu]ckgaberecht"
    r"|o[ùu] est (?:ma|mon) (?:commande|colis|livraison)|frais de (?:port|livraison)"
    r"|(?:rembourse|livrez)[ -]?vous"
    r"|politique de retour|d[óo]nde est[áa] mi (?:pedido|paquete|env[íi]o)|gastos de env[íi]o"
    r"|(?:puedo|quiero) devolver|hacen env[íi]os|(?:cancelar|anular) mi|annuler (?:ma|mon)|stornier\w+"
    r"|(?:pay|payment) (?:with|by|methods?|options?)|bezahlen|payer (?:par|avec)|pagar con|paypal"
    r"|do you ship to|how long does (?:shipping|delivery))\b",
    re.I,
)

INSTRUCTION = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|rules?|prompts?|previous"
    r"|everything)\b"
    r"|\b(?:system|developer) prompt\b|\bapi[ _-]?keys?\b.{0,20}\b(?:show|give|reveal|print)\b|\b(?:show"
    r"|reveal|print|list|give me)\b"
    r".{0,30}\b(?:all tenants|other tenants|all accounts|api[ _-]?keys?|credentials|passwords"
    r"|system prompt|your (?:prompt|instructions|rules))\b"
    r"|\bdrop table\b"
    r"|\b(?:ignora|olvida|ignore[zr]?|oublie[zr]?|ignorier\w*|vergiss|missachte)\b.{0,40}"
    r"\b(?:instrucci\w+|reglas|consignes|r[èe]gles|anweisung\w*|regeln|vorgaben)\b"
    r"|\b(?:pretend|imagine)(?: that)? you(?:'re| are)\b|\bdiscount code\b"
    r"|\b(?:tell me|repeat|what are|say) your (?:prompt|instructions|rules)\b"
    r"|\b(?:you are|act as|become) (?:now )?(?:an? |the )?(?:admin|administrator|root|developer|superuser)\b",
    re.I,
)


def topic_words(words: list[str]) -> list[str]:
    """Return the words that something can be found by, in order.

    "gift" stays only before what makes it a product ("gift box") or where nothing else is left.
    """
    kept = [word for word in words if word not in FILLER and not (len(word) == 1 and word.isalpha())]
    without_gift = [
        word
        for position, word in enumerate(kept)
        if word not in GIFT or (position + 1 < len(kept) and kept[position + 1] in _GIFT_COMPOUNDS)
    ]
    return without_gift or kept
